"""How cost grows with length: the exponent of a power law with its interval, and where one cost overtakes another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tfm_core.profiling.report import Blocks
from tfm_core.profiling.size import Size
from tfm_core.profiling.statistics import Interval

RESAMPLES = 2000
FEWEST_BLOCKS = 5  # with fewer the bootstrap holds less often than it should: of 3, in 88 of 100 trials


@dataclass(frozen=True)
class Fit:
    """seconds = factor * length^exponent; NaN where there is nothing to fit."""

    exponent: Interval
    factor: float

    def at(self, length: float) -> float:
        """Seconds that it says."""
        return float(self.factor * length**self.exponent.middle)


def fit(lengths: Sequence[float], blocks: Sequence[Blocks], *, level: float = 0.95, seed: int = 0) -> Fit:
    """The power law through the medians: least squares in logarithms.

    The interval is the percentile bootstrap's over each length's blocks (Efron and Tibshirani 1993, chapter 13),
    drawn with the seed. It says how sure the slope of these medians is, not that the cost is a power law: that
    of attention bends, from the exponent 1 of short sequences to the 2 of long ones. Lengths without a figure are left
    out. With fewer than 2 lengths all is NaN; where a length has fewer than `FEWEST_BLOCKS` blocks, the bounds.

    Args:
        lengths: tokens, all above 0.
        blocks: of each length.
        level: the interval's.
        seed: of the resampling.
    """
    samples = zip(lengths, (list(of_length.sample.values()) for of_length in blocks), strict=True)
    measured = [(length, np.asarray(sample)) for length, sample in samples if sample]
    logs = np.log([length for length, _ in measured])
    exponent, factor = _line(logs, np.log([np.median(seconds) for _, seconds in measured]))
    low = high = math.nan
    if not math.isnan(exponent) and min(len(seconds) for _, seconds in measured) >= FEWEST_BLOCKS:
        drawn = np.random.default_rng(seed)
        medians = [np.median(drawn.choice(seconds, (RESAMPLES, len(seconds))), axis=1) for _, seconds in measured]
        slopes = _slopes(logs, np.log(np.stack(medians, axis=1)))
        low, high = map(float, np.quantile(slopes, ((1 - level) / 2, (1 + level) / 2)))
    return Fit(Interval(low, exponent, high), math.exp(factor))


def exponent(lengths: ArrayLike, values: ArrayLike) -> float:
    """The slope of the least-squares line through (log length, log value): of exact n^p it is p.

    Pairs with a value that is 0, negative or NaN are left out; NaN with fewer than 2 lengths.
    """
    x, y = np.asarray(lengths, float), np.asarray(values, float)
    known = (x > 0) & (y > 0)
    return _line(np.log(x[known]), np.log(y[known]))[0]


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and intercept; NaN where there are no two different x."""
    if len(set(x.tolist())) < 2:
        return math.nan, math.nan
    slope = float(_slopes(x, y[None])[0])
    return slope, float(y.mean() - slope * x.mean())


def _slopes(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slope of each row of y, (row, x)."""
    centred = x - x.mean()
    slopes: NDArray[np.float64] = y @ centred / (centred @ centred)
    return slopes


def crossing(lengths: Sequence[float], a: Sequence[float], b: Sequence[float]) -> float | None:
    """The length where a overtakes b, on straight lines between neighbours in logarithms.

    None where it does not come to that within these lengths, or where a costs more from the first length on. Lengths
    where one of the two is 0, negative or NaN are left out.

    Args:
        lengths: rising.
        a: the cost that is to overtake.
        b: the other.
    """
    known = [(math.log(n), math.log(p) - math.log(q)) for n, p, q in zip(lengths, a, b, strict=True) if p > 0 and q > 0]
    for (x, before), (y, after) in pairwise(known):
        if before <= 0 <= after and before < after:
            return math.exp(x + (y - x) * before / (before - after))
    return None


def predicted_crossing(size: Size) -> float:
    """The length from which on the products with scores need more operations than the feed-forward networks.

    Products: 4 n^2 d in each attention (query @ key^T and weights @ value, 2 n^2 d each). Feed-forward: 4 n d d_ff in
    each network (two maps of 2 n d d_ff each), gated 6 n d d_ff. They are equal at n = d_ff, whatever d_model, heads,
    layers and batch are; gated at 1.5 d_ff, and in an encoder-decoder, which has three attentions for two such
    networks, at 2/3 of either.
    """
    gated = 1.5 if size.is_gated else 1.0
    return gated * size.feed_forward_dim * size.num_feed_forwards / size.num_attentions
