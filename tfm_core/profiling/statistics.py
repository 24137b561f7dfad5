"""How sure a measurement is: intervals that hold whatever the noise is like, and ratios paired by round."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfm_core.profiling.report import Blocks, usable_rounds

NO_DIFFERENCE, TOO_FEW = "no detectable difference", "too few rounds to tell"


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


@dataclass(frozen=True)
class Paired:
    """What one thing costs over what another costs, round by round.

    Attributes:
        rounds: round -> the ratio in it; empty where too few rounds have both.
        under_load: whether they are of contended blocks too.
    """

    rounds: Mapping[int, float]
    under_load: bool

    @property
    def interval(self) -> Interval:
        """The median of the ratios, and its interval."""
        return median_interval(list(self.rounds.values()))

    def times(self, factor: float) -> "Paired":
        """The same in other units, such as rates where the ratios are of times."""
        return Paired({number: factor * value for number, value in self.rounds.items()}, self.under_load)


def paired(a: Blocks, b: Blocks) -> Paired:
    """The rounds in which both have a clean block; all rounds that both have, where those are too few.

    Whatever slows a whole round down hits both alike and cancels.
    """
    rounds, under_load = usable_rounds(_over(a.clean, b.clean), _over(a.every, b.every))
    return Paired(rounds, under_load)


def _over(ours: Mapping[int, float], theirs: Mapping[int, float]) -> dict[int, float]:
    return {number: ours[number] / theirs[number] for number in ours if theirs.get(number)}


def ratio(a: Blocks, b: Blocks) -> Interval:
    """What a costs over what b costs: the median of the ratios of their rounds, and its interval."""
    return paired(a, b).interval


def verdict(interval: Interval) -> str:
    """A ratio in words: "faster", "slower", `NO_DIFFERENCE` where it straddles 1, `TOO_FEW` where it has no bounds."""
    if math.isnan(interval.low) or math.isnan(interval.high):
        return TOO_FEW
    if interval.low <= 1 <= interval.high:
        return NO_DIFFERENCE
    return "faster" if interval.high < 1 else "slower"
