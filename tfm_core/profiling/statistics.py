"""How sure a measurement is: intervals that ask nothing of the noise, and ratios paired by round."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfm_core.profiling.report import Blocks

NO_DIFFERENCE, TOO_FEW = "no detectable difference", "too few clean rounds to tell"


@dataclass(frozen=True)
class Interval:
    """A figure between its bounds; NaN where it is not known."""

    low: float
    middle: float
    high: float


def median_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The median, and an interval that holds the true one with at least this probability, whatever the noise.

    Between the k-th smallest and the k-th largest of n values lies the true median unless fewer than k values fell
    on one side of it, which has the probability 2 P(B < k), B binomial of n and 1/2. The largest k that keeps the
    level is taken (Hahn and Meeker 1991, section 5.2). Fewer than 6 values have none for 95 %: the bounds are NaN
    then, and without values all is NaN. Values that are NaN count for nothing.
    """
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return Interval(math.nan, math.nan, math.nan)
    middle, rank = float(np.median(known)), _rank(len(known), level)
    return Interval(known[rank - 1], middle, known[-rank]) if rank else Interval(math.nan, middle, math.nan)


def _rank(count: int, level: float) -> int:
    """The largest k of which 1 - 2 P(B < k) is at least the level; 0 if there is none."""
    rank, below = 0, 0  # below: 2^n P(B < rank + 1)
    while rank < count // 2:
        below += math.comb(count, rank)
        if 2 * below > (1 - level) * 2**count:
            break
        rank += 1
    return rank


def ratio(a: Blocks, b: Blocks) -> Interval:
    """What a costs over what b costs: the median of the ratios of the rounds that both have, and its interval.

    Whatever slows a whole round down hits both alike and cancels.
    """
    return median_interval(list(paired(a, b).values()))


def paired(a: Blocks, b: Blocks) -> dict[int, float]:
    """Round -> what a costs over what b costs, of the rounds in which both have a clean block."""
    ours, theirs = (dict(zip(blocks.rounds, blocks.seconds, strict=True)) for blocks in (a, b))
    return {number: ours[number] / theirs[number] for number in ours if theirs.get(number)}


def verdict(interval: Interval) -> str:
    """A ratio in words: "faster", "slower", `NO_DIFFERENCE` where it straddles 1, `TOO_FEW` where it has no bounds."""
    if math.isnan(interval.low) or math.isnan(interval.high):
        return TOO_FEW
    if interval.low <= 1 <= interval.high:
        return NO_DIFFERENCE
    return "faster" if interval.high < 1 else "slower"
