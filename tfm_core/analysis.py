"""What a head does, in numbers: summaries of attention weights.

All take weights (..., query, key), one map or many, and average over the query rows.
"""

from torch import Tensor, arange


def entropy(weights: Tensor) -> Tensor:
    """-sum w log w of each row, averaged, in nats (...): 0 if each query looks at one key, log(keys) if at all."""
    surprise = -weights.clamp(min=1e-38).log() * weights  # 0 log 0 = 0
    return surprise.sum(-1).mean(-1)


def mean_distance(weights: Tensor) -> Tensor:
    """sum w |query - key| of each row, averaged, in tokens (...); for self-attention."""
    queries, keys = arange(weights.shape[-2]), arange(weights.shape[-1])
    return (weights * (queries[:, None] - keys).abs()).sum(-1).mean(-1)


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
