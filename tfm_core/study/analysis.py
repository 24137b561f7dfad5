"""What a head does, in numbers: summaries of attention weights.

All take weights (..., query, key), one map or many. Those that give one number per map average over the query rows.
"""

from typing import NamedTuple

from torch import Tensor, arange, bincount, finfo


class Peaks(NamedTuple):
    """The two largest weights of each row, all (..., query).

    Attributes:
        first: the largest.
        key: the column it stands in; the leftmost, if it stands in several.
        second: the next, which may be as large; 0 where there is but one key.
    """

    first: Tensor
    key: Tensor
    second: Tensor


def peaks(weights: Tensor) -> Peaks:
    """Where each row looks most, and how clearly."""
    first, key = weights.max(-1)
    without = weights.scatter(-1, key[..., None], 0)  # no weight is below 0
    return Peaks(first, key, without.amax(-1))


def entropy(weights: Tensor) -> Tensor:
    """-sum w log w of each row, averaged, in nats (...): 0 if each query looks at one key, log(keys) if at all."""
    # By log and not by torch.special.entr, which takes twice as long; 0 log 0 is 0.
    logs = weights.clamp_min(finfo(weights.dtype).tiny).log_()
    return (0 - logs.mul_(weights).sum(-1)).mean(-1)  # and not -0, which would be written -0.00


def mean_distance(weights: Tensor) -> Tensor:
    """sum w |query - key| of each row, averaged, in tokens (...); for self-attention."""
    queries, keys = (arange(size, dtype=weights.dtype, device=weights.device) for size in weights.shape[-2:])
    distance = (queries[:, None] - keys).abs_()
    return (weights * distance).sum(-1).mean(-1)  # row by row: one sum over all pairs loses digits


def weight_on_self(weights: Tensor) -> Tensor:
    """The weight that a token gives itself, averaged (...); for self-attention."""
    return weights.diagonal(dim1=-2, dim2=-1).mean(-1)


def weight_on_previous(weights: Tensor) -> Tensor:
    """The weight on the token before, averaged over all queries but the first (...); for self-attention."""
    if weights.shape[-2] < 2:
        return weights.new_zeros(weights.shape[:-2])
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(-1)


def weight_on_first(weights: Tensor) -> Tensor:
    """The weight on the very first token, averaged (...)."""
    return weights[..., 0].mean(-1)


class ByDistance(NamedTuple):
    """What pairs of tokens that stand equally far apart have in common; one entry per distance that has a pair.

    Attributes:
        distance: int64, query - key, rising: negative for keys ahead.
        mean: float64, of the scores at this distance.
        pairs: int64, how many they are.
    """

    distance: Tensor
    mean: Tensor
    pairs: Tensor


def mean_by_distance(scores: Tensor, visible: Tensor) -> ByDistance:
    """The mean score of each distance, over the pairs that may attend; for self-attention.

    Args:
        scores: (query, key), before the softmax.
        visible: boolean (query, key), True = may attend.
    """
    queries, keys = scores.shape
    distance = arange(queries)[:, None] - arange(keys)
    at = (distance + keys - 1)[visible]  # from 0 on
    pairs, sums = bincount(at), bincount(at, weights=scores[visible].double())
    present = pairs.nonzero()[:, 0]
    return ByDistance(present - (keys - 1), sums[present] / pairs[present], pairs[present])
