"""How two rows compare, in words: all that a page says of it follows from their ratio round by round."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tfm_core.profiling import Blocks
from tfm_core.profiling.statistics import NO_DIFFERENCE, Interval, Paired, paired, verdict
from tfm_ui.text import units

NO_PAIR = "too few rounds with both"
DIFFER = ("faster", "slower")
CLOSE = 0.05  # two figures that are closer than this need no word on why they are not the same


@dataclass(frozen=True)
class Pace:
    """What a comparison needs of a row.

    Attributes:
        blocks: its times.
        work: what a call does; what is compared is the time for the same work, so 1 compares calls.
    """

    blocks: Blocks
    work: float = 1.0

    def over(self, other: "Pace") -> "Ratio":
        """This row's time over the other's, for the same work."""
        per_work = other.work / self.work
        medians = self.blocks.median / other.blocks.median if other.blocks.median else math.nan
        return Ratio(paired(self.blocks, other.blocks).times(per_work), medians * per_work)


@dataclass(frozen=True)
class Ratio:
    """One row's time over another's.

    Attributes:
        pairs: the ratio in each round.
        of_medians: one median over the other, as a reader would compute it; NaN where that is not known.
    """

    pairs: Paired
    of_medians: float = math.nan

    @property
    def interval(self) -> Interval:
        """The interval around the median of the ratios."""
        return self.pairs.interval

    @property
    def verdict(self) -> str:
        """`NO_PAIR`, or as `statistics.verdict` has it."""
        return verdict(self.interval) if self.pairs.rounds else NO_PAIR

    @property
    def differs(self) -> bool:
        """Whether the two can be told apart."""
        return self.verdict in DIFFER

    @property
    def factor(self) -> str:
        """2.5× as long as; 0.4% longer than: only of two that can be told apart."""
        return units.beside(self.interval.middle, "long", "longer", "shorter")

    def in_words(self, this: str, other: str, takes: str = "takes") -> str:
        """All of it as the end of a sentence: row 5 takes 4.7× as long as row 2."""
        if self.differs:
            sentence = f"{this} {takes} {self.factor} {other}"
            if math.isnan(self.of_medians) or abs(self.of_medians / self.interval.middle - 1) < CLOSE:
                return sentence
            medians = units.times(self.of_medians)
            return f"{sentence} (the median of {len(self.pairs.rounds)} ratios; the ratio of the medians is {medians})"
        if self.verdict == NO_DIFFERENCE:
            rounds = len(self.pairs.rounds)
            return f"{rounds} rounds show {NO_DIFFERENCE} in time between {other} and {this}"
        return f"there are too few rounds to tell {other} and {this} apart in time"


def not_told_apart(number: int, paces: Mapping[int, Pace]) -> list[int]:
    """The rows that cannot be told apart from this one, and itself."""
    return [other for other, pace in paces.items() if other == number or not pace.over(paces[number]).differs]
