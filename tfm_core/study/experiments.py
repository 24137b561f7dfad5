"""Experiments on attention itself, without a model: what is drawn, what is measured, and the law that predicts it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.initialization import generator
from tfm_core.model.scaled_dot_product import attention_scores, attention_weights
from tfm_core.study.analysis import entropy


@dataclass(frozen=True)
class ScaleExperiment:
    """What becomes of the softmax as queries and keys grow wider; every tensor float64 (width), an entry per width.

    Attributes:
        widths: the head_dims, d_k, that were tried.
        draws: how many queries, each with keys of its own.
        keys: how many keys each query was compared with.
        variance: of q.k over all draws and keys, population variance. Its law: d_k.
        entropy: "scaled" or "unscaled" -> of the weights in nats, averaged over the draws; at most log(keys).
        gradient: the same -> the largest entry of the softmax's Jacobian, averaged over the draws; at most 1/4.
        median_gradient: the same -> what half of the draws stay below.

    Examples:
        >>> from tfm_core import scale_experiment
        >>> measured = scale_experiment([4, 64], draws=50)
        >>> measured.widths, measured.variance.shape
        ((4, 64), torch.Size([2]))
    """

    widths: tuple[int, ...]
    draws: int
    keys: int
    variance: Tensor
    entropy: dict[str, Tensor]
    gradient: dict[str, Tensor]
    median_gradient: dict[str, Tensor]


def scale_experiment(widths: Sequence[int], *, draws: int = 1000, keys: int = 16, seed: int = 0) -> ScaleExperiment:
    """Why scores are divided by sqrt(d_k): draw queries and keys of independent standard normal numbers, and measure.

    Each of the d_k products in q.k then has mean 0 and variance 1, so that their sum has variance d_k: without the
    division, wide heads would feed ever larger scores to the softmax, where it is flat. Vaswani et al. 2017, section
    3.2.1 and its footnote 4. A width's draws depend on the seed and the width alone, not on what else is tried.

    Args:
        widths: the head_dims to try.
        draws: of queries, at each width.
        keys: for each query.
        seed: of the draws.

    Raises:
        ValueError: if a number is too small to measure anything.

    Examples:
        >>> from tfm_core import scale_experiment
        >>> measured = scale_experiment([4, 256], draws=200)
        >>> bool(measured.variance[1] > 10 * measured.variance[0])  # it grows as d_k
        True
        >>> bool(measured.entropy["unscaled"][1] < measured.entropy["scaled"][1])
        True
    """
    if not widths or min(widths) < 1 or draws < 1 or keys < 2:
        raise ValueError(
            "expected widths of at least 1, at least 1 draw and 2 keys; "
            f"got widths={tuple(widths)}, draws={draws}, keys={keys}"
        )
    rows = [measure_width(width, draws, keys, seed) for width in widths]
    variance, *measured = (torch.stack(column) for column in zip(*rows, strict=True))
    pairs = zip(measured[:3], measured[3:], strict=True)
    return ScaleExperiment(
        tuple(widths), draws, keys, variance, *({"scaled": scaled, "unscaled": not_so} for scaled, not_so in pairs)
    )


def measure_width(width: int, draws: int, keys: int, seed: int) -> list[Tensor]:
    """The variance at one width; then entropy, gradient and its median, scaled, and the three again, unscaled."""
    numbers = generator(seed, f"scale experiment, d_k {width}")
    query = torch.randn(draws, 1, width, generator=numbers)
    key = torch.randn(draws, keys, width, generator=numbers)
    results = [attention_scores(query, key, scale=1.0).double().var(correction=0)]
    for scale in (None, 1.0):  # None is the library's own, 1 / sqrt(d_k)
        weights = attention_weights(attention_scores(query, key, scale=scale).double(), None)
        gradient = largest_gradient(weights)
        results += [entropy(weights).mean(), gradient.mean(), gradient.median()]
    return results


def largest_gradient(weights: Tensor) -> Tensor:
    """The largest |d weight_i / d score_j| = |w_i (1[i = j] - w_j)| of each softmax, (...): from 0 to 1/4.

    It stands on the diagonal: w_i (1 - w_i) is the sum of w_i w_j over all other j, and so no smaller than any of them.

    Args:
        weights: (..., key), each row the softmax of its scores.
    """
    return (weights * (1 - weights)).amax(-1)
