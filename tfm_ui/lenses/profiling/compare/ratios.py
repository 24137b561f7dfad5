"""Each row over one of them, round by round: what can be told apart, and what cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import pandas as pd

from tfm_core.profiling.statistics import NO_DIFFERENCE, TOO_FEW
from tfm_ui.lenses.profiling.comparison import FORWARD, NOT_MEASURED, Comparison, listed_rows
from tfm_ui.lenses.profiling.pace import DIFFER, NO_PAIR, Pace, Ratio
from tfm_ui.lenses.profiling.recipes import ratios_to_row
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units

UNTOLD = (NO_DIFFERENCE, TOO_FEW, NO_PAIR)
NAMED = 6  # rows that a sentence names with their ratio


@dataclass(frozen=True)
class RowRatio:
    """A row over the baseline.

    Attributes:
        number: of the row, from 1.
        kind: forward, or forward + backward.
        ratio: how the two compare.
    """

    number: int
    kind: str
    ratio: Ratio

    @property
    def rounds(self) -> dict[int, float]:
        """Round -> the ratio in it."""
        return dict(self.ratio.pairs.rounds)

    @property
    def mark(self) -> str:
        """The words that follow a figure that was measured under load."""
        return ", under load" if self.ratio.pairs.under_load else ""

    @property
    def in_short(self) -> str:
        """The median and the verdict."""
        figure = f"{_figure(self.ratio.interval.middle)}, " if self.rounds else ""
        return f"{figure}{self.ratio.verdict}{self.mark}"

    @property
    def in_words(self) -> str:
        """The median, the interval, the verdict and the number of pairs, in words."""
        many, interval = formats.plural(len(self.rounds), "pair"), self.ratio.interval
        if isnan(interval.low):
            return f"{self.in_short}, {many}"
        low, middle, high = map(_figure, (interval.low, interval.middle, interval.high))
        return f"{middle}, interval {low} to {high}: {self.ratio.verdict}; {many}{self.mark}"

    @property
    def factor(self) -> str:
        """The ratio as a factor: 2×, or 0.4% longer."""
        return self.ratio.factor.removesuffix(" than").removesuffix(" as long as")


def _figure(ratio: float) -> str:
    """2.04; near 1, where it is the difference that counts, 1.0042."""
    return f"{ratio:.4f}" if abs(ratio - 1) < units.NEAR else units.three(ratio)


@dataclass(frozen=True)
class Ratios(Result):
    """Each row over the baseline.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    @cached_property
    def all(self) -> list[RowRatio]:
        """Each row but the baseline over the baseline, where that has a time: forward, forward + backward."""
        comparison = self.comparison
        bases = comparison.kinds(comparison.baseline)
        return [
            RowRatio(number, kind, Pace(blocks).over(Pace(bases[kind])))
            for number in comparison.numbers
            if number != comparison.baseline
            for kind, blocks in comparison.kinds(number).items()
            if bases[kind].sample
        ]

    def sentence(self) -> str:
        """Which rows are slower and faster than the baseline, and which cannot be told apart from it."""
        comparison = self.comparison
        base = comparison.name(comparison.baseline)
        if len(comparison.rows) == 1:
            return "One row alone: add another to compare it with."
        if comparison.report is None:
            return NOT_MEASURED
        if not comparison.kinds(comparison.baseline)[FORWARD].sample:
            what = "No forward pass" if self.all else "Nothing"
            return f"{what} can be compared with row {base}: {comparison.reason(comparison.baseline)}."
        forward = [ratio for ratio in self.all if ratio.kind == FORWARD]
        paired = [ratio for ratio in forward if ratio.rounds]
        counted = f" {_span([len(ratio.rounds) for ratio in paired])} each, intervals at 95%." if paired else ""
        marked = [ratio.number for ratio in paired if ratio.mark]
        load = f" Measured under load: {listed_rows(marked)}." if marked else ""
        return f"Forward beside row {base}, {'; '.join(_by_verdict(forward))}.{counted}{load}"

    def table(self) -> pd.DataFrame:
        """A line per row and kind."""
        comparison = self.comparison
        lines = [
            (
                row.number,
                comparison.plan.rows[row.number - 1].target,
                comparison.size(row.number),
                row.kind,
                row.ratio.interval.low,
                row.ratio.interval.middle,
                row.ratio.interval.high,
                len(row.rounds),
                row.ratio.verdict,
                row.ratio.pairs.under_load,
            )
            for row in self.all
        ]
        names = ["row", "target", "d_model, heads, layers, length", "what", "low", "ratio", "high", "pairs", "verdict"]
        return comparison.stamped(pd.DataFrame(lines, columns=[*names, "measured under load"]).set_index("row"))

    def recipe(self) -> str:
        """A script that leaves the `ratios`, one for each row."""
        return self.comparison.recipe(ratios_to_row, baseline=self.comparison.baseline - 1)


def _by_verdict(forward: Sequence[RowRatio]) -> Iterator[str]:
    """The rows of each verdict: those that differ with their ratio."""
    rows = {word: [row for row in forward if row.ratio.verdict == word] for word in (*reversed(DIFFER), *UNTOLD)}
    for word, alike in rows.items():
        if alike:
            yield f"{word}: {_factors(alike) if word in DIFFER else listed_rows([row.number for row in alike])}"


def _factors(rows: Sequence[RowRatio]) -> str:
    named = [f"row {row.number} ({row.factor})" for row in rows[:NAMED]]
    return formats.listed([*named, f"{len(rows) - NAMED} more"] if len(rows) > NAMED else named)


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return formats.plural(low, "pair") if low == high else f"{low} to {high} pairs"
