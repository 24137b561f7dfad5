"""Each row over one of them, round by round: what can be told apart, and what cannot."""

from collections import defaultdict
from dataclasses import dataclass
from math import isnan

import pandas as pd

from tfm_core.profiling.statistics import NO_DIFFERENCE, TOO_FEW
from tfm_ui.lenses.profiling.beside import DIFFER, NO_PAIR, Beside, Pace, beside
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, Compared, listed_rows
from tfm_ui.text import look, units

UNTOLD = (NO_DIFFERENCE, TOO_FEW, NO_PAIR)
NAMED = 6  # rows that a sentence names with their ratio


@dataclass(frozen=True)
class Ratio:
    """A row over the baseline.

    Attributes:
        number: of the row, from 1.
        kind: forward, or forward + backward.
        beside: how the two compare.
    """

    number: int
    kind: str
    beside: Beside

    @property
    def rounds(self) -> dict[int, float]:
        """Round -> the ratio in it."""
        return dict(self.beside.pairs.rounds)

    @property
    def mark(self) -> str:
        """Said behind a figure that was measured under load."""
        return ", under load" if self.beside.pairs.under_load else ""

    @property
    def end(self) -> str:
        """The median and the verdict."""
        figure = f"{_figure(self.beside.interval.middle)}, " if self.rounds else ""
        return f"{figure}{self.beside.verdict}{self.mark}"

    @property
    def said(self) -> str:
        """All of it in words."""
        many, interval = look.plural(len(self.rounds), "pair"), self.beside.interval
        if isnan(interval.low):
            return f"{self.end}, {many}"
        low, middle, high = map(_figure, (interval.low, interval.middle, interval.high))
        return f"{middle}, interval {low} to {high}: {self.beside.verdict}; {many}{self.mark}"


def _figure(ratio: float) -> str:
    """2.04; near 1, where it is the difference that counts, 1.0042."""
    return f"{ratio:.4f}" if abs(ratio - 1) < units.NEAR else units.three(ratio)


def ratios(seen: Compared) -> list[Ratio]:
    """Each row but the baseline over the baseline, where that has a time: forward, forward + backward."""
    bases = seen.kinds(seen.baseline)
    return [
        Ratio(number, kind, beside(Pace(blocks), Pace(bases[kind])))
        for number in range(1, len(seen.rows) + 1)
        if number != seen.baseline
        for kind, blocks in seen.kinds(number).items()
        if bases[kind].sample
    ]


def sentence(seen: Compared) -> str:
    """Which rows are slower and faster than the baseline, and which cannot be told apart from it."""
    base = seen.name(seen.baseline)
    if len(seen.rows) == 1:
        return "One row alone: add another to compare it with."
    if seen.report is None:
        return "Nothing is measured yet: press Measure."
    if not seen.kinds(seen.baseline)[FORWARD].sample:
        what = "No forward pass" if ratios(seen) else "Nothing"
        return f"{what} can be compared with row {base}: {seen.reason(seen.baseline)}."
    said: dict[str, list[Ratio]] = defaultdict(list)
    for one in ratios(seen):
        if one.kind == FORWARD:
            said[one.beside.verdict].append(one)
    parts = [f"{word}: {_factors(said[word])}" for word in reversed(DIFFER) if said[word]]
    parts += [f"{word}: {listed_rows([one.number for one in said[word]])}" for word in UNTOLD if said[word]]
    forward = [one for all_of_word in said.values() for one in all_of_word if one.rounds]
    counted = f" {_span([len(one.rounds) for one in forward])} each, intervals at 95%." if forward else ""
    marked = [one.number for one in forward if one.mark]
    load = f" Measured under load: {listed_rows(sorted(marked))}." if marked else ""
    return f"Forward beside row {base}, {'; '.join(parts)}.{counted}{load}"


def _factors(found: list[Ratio]) -> str:
    shown = [f"row {one.number} ({_short(one)})" for one in found[:NAMED]]
    return look.listed([*shown, f"{len(found) - NAMED} more"] if len(found) > NAMED else shown)


def _short(one: Ratio) -> str:
    """2×; 0.4% longer."""
    return one.beside.factor.removesuffix(" than").removesuffix(" as long as")


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return look.plural(low, "pair") if low == high else f"{low} to {high} pairs"


def table(seen: Compared) -> pd.DataFrame:
    """A line per row and kind."""
    found = [
        (
            one.number,
            seen.plan.rows[one.number - 1].target,
            seen.size(one.number),
            one.kind,
            one.beside.interval.low,
            one.beside.interval.middle,
            one.beside.interval.high,
            len(one.rounds),
            one.beside.verdict,
            one.beside.pairs.under_load,
        )
        for one in ratios(seen)
    ]
    names = ["row", "target", "d_model, heads, layers, length", "what", "low", "ratio", "high", "pairs", "verdict"]
    return seen.stamped(pd.DataFrame(found, columns=[*names, "measured under load"]).set_index("row"))
