"""Each row over one of them, round by round: what can be told apart, and what cannot."""

from collections import defaultdict
from dataclasses import dataclass
from math import isnan

import pandas as pd

from tfm_core.profiling.statistics import NO_DIFFERENCE, TOO_FEW, Interval, paired, ratio, verdict
from tfm_ui.figures import look, units
from tfm_ui.profiling_lens.compare import FORWARD, Compared, listed_rows

UNTOLD = (NO_DIFFERENCE, TOO_FEW)
NO_PAIR = "no round with a clean block of both"
NAMED = 6  # rows that a sentence names with their ratio


@dataclass(frozen=True)
class Ratio:
    """A row over the baseline.

    Attributes:
        number: of the row, from 1.
        kind: forward, or forward + backward.
        rounds: round -> the ratio in it.
        interval: around their median.
    """

    number: int
    kind: str
    rounds: dict[int, float]
    interval: Interval

    @property
    def verdict(self) -> str:
        """In words."""
        return verdict(self.interval) if self.rounds else NO_PAIR

    @property
    def end(self) -> str:
        """The median and the verdict."""
        return f"{units.three(self.interval.middle)}, {self.verdict}" if self.rounds else self.verdict

    @property
    def said(self) -> str:
        """All of it in words."""
        many = look.plural(len(self.rounds), "pair")
        if isnan(self.interval.low):
            return f"{self.end}, {many}"
        low, middle, high = (units.three(x) for x in (self.interval.low, self.interval.middle, self.interval.high))
        return f"{middle}, interval {low} to {high}: {self.verdict}; {many}"


def ratios(seen: Compared) -> list[Ratio]:
    """Each row but the baseline over the baseline, where that has a clean block: forward, forward + backward."""
    bases = seen.kinds(seen.baseline)
    return [
        Ratio(number, kind, paired(blocks, bases[kind]), ratio(blocks, bases[kind]))
        for number in range(1, len(seen.rows) + 1)
        if number != seen.baseline
        for kind, blocks in seen.kinds(number).items()
        if bases[kind].seconds
    ]


def sentence(seen: Compared) -> str:
    """Which rows are slower and faster than the baseline, and which cannot be told apart from it."""
    base = seen.name(seen.baseline)
    if len(seen.rows) == 1:
        return "One row alone: add another to compare it with."
    if seen.report is None:
        return "Nothing is measured yet: press Measure."
    if not seen.kinds(seen.baseline)[FORWARD].seconds:
        what = "No forward pass" if ratios(seen) else "Nothing"
        return f"{what} can be compared with row {base}: {seen.reason(seen.baseline)}."
    said: dict[str, list[Ratio]] = defaultdict(list)
    for one in ratios(seen):
        if one.kind == FORWARD:
            said[one.verdict].append(one)
    parts = [f"{word}: {_factors(said[word])}" for word in ("slower", "faster") if said[word]]
    parts += [f"{word}: {listed_rows([one.number for one in said[word]])}" for word in (*UNTOLD, NO_PAIR) if said[word]]
    counts = [len(one.rounds) for all_of_word in said.values() for one in all_of_word if one.rounds]
    counted = f" {_span(counts)} each, intervals at 95%." if counts else ""
    return f"Forward beside row {base}, {'; '.join(parts)}.{counted}"


def _factors(found: list[Ratio]) -> str:
    shown = [f"row {one.number} ({units.times(one.interval.middle)})" for one in found[:NAMED]]
    return look.listed([*shown, f"{len(found) - NAMED} more"] if len(found) > NAMED else shown)


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
            one.interval.low,
            one.interval.middle,
            one.interval.high,
            len(one.rounds),
            one.verdict,
        )
        for one in ratios(seen)
    ]
    columns = ["row", "target", "d_model, heads, layers, length", "what", "low", "ratio", "high", "pairs", "verdict"]
    return seen.stamped(pd.DataFrame(found, columns=columns).set_index("row"))
