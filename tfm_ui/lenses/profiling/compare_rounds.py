"""Every round of every row, and each row over one of them, round by round: what can be told apart, and what cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

import pandas as pd

from tfm_core.profiling import Blocks, Plan, Row, Setup, profile, statistics
from tfm_core.profiling.statistics import NO_DIFFERENCE, TOO_FEW, Interval
from tfm_ui.lenses.profiling.pace import DIFFER, NO_PAIR, Pace, Ratio, not_told_apart
from tfm_ui.lenses.profiling.rows import FORWARD, NOT_MEASURED, TRAINING, ProfilingPanel, listed_rows, measure
from tfm_ui.pictures import strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.text import formats, units
from tfm_ui.text.units import span, took

KINDS = {FORWARD: Group("head 1"), TRAINING: Group("head 2", hollow=True)}
UNTOLD = (NO_DIFFERENCE, TOO_FEW, NO_PAIR)
NAMED = 6  # rows that a sentence names with their ratio


def every_round(*, rows: tuple[Row, ...], setup: Setup) -> list[list[float]]:
    """Seconds of each row's forward pass in each round."""
    report = measure(Plan(rows, setup))
    seconds = [list(measured.forward.sample.values()) for measured in report.measured]
    return seconds


def ratios_to_row(*, rows: tuple[Row, ...], setup: Setup, baseline: int) -> list[Interval]:
    """Each row over one of them; the baseline is counted from 0."""
    report = measure(Plan(rows, setup))
    base = report.measured[baseline].forward
    ratios = [statistics.ratio(measured.forward, base) for measured in report.measured]
    return ratios


def _dots(drawn: Sequence[Strip], **how: Any) -> Content:
    """Strips in groups, on an axis by powers of ten where the largest dot is more than 5 times the smallest."""
    dots = [dot for strip in drawn for dot in strip.dots if dot > 0]
    groups = {name: group for name, group in KINDS.items() if any(strip.group == name for strip in drawn)}
    return strips.content(drawn, groups, scale="log10" if dots and max(dots) > 5 * min(dots) else "linear", **how)


class Times(ProfilingPanel):
    """Every round of every row, and which row takes how long."""

    title = "Every run"
    how_to_read = (
        "A dot is one round. The box holds the middle half of them, the bar is the median, the "
        "triangle the minimum. All rows take turns in each round, so a slow moment of the machine slows all of them."
    )
    sources = (profile,)

    @property
    def is_shown(self) -> bool:
        return self.report is not None

    def of_row(self, number: int, kind: str) -> str:
        """All that was measured of a row, in words."""
        why = self.reason(number, kind).removeprefix(f"{TRAINING}: ")
        return f"{self.row_name(number)}, {kind}:\n{_in_words(self.kinds(number)[kind]) or why}"

    def sentence(self) -> str:
        """Which rows are the slowest and which the fastest, and what backward adds."""
        if self.report is None:
            return NOT_MEASURED
        return " ".join(filter(None, (self._extremes, self._backward, self._missing, self.under_load(*self.kinds(1)))))

    @property
    def _extremes(self) -> str:
        """The extremes of the forward passes; where none has a figure, those of forward + backward."""
        if self.measured:
            return self._between(FORWARD, "forward pass")
        if self.plan.setup.backward and self.timed(TRAINING):
            return f"{self.nothing} {self._between(TRAINING, 'forward + backward pass')}"
        return self.nothing

    def _between(self, kind: str, what: str) -> str:
        paces = {number: Pace(self.kinds(number)[kind]) for number in self.timed(kind)}
        medians = {number: pace.blocks.median for number, pace in paces.items()}
        slow, fast = max(medians, key=medians.__getitem__), min(medians, key=medians.__getitem__)
        if slow == fast:
            return f"A {what} of row {slow} takes {took(medians[slow])}, the median of its rounds."
        ratio = self.ratio(slow, fast, kind)
        words = ratio.in_words(f"row {slow}", f"row {fast}")
        if not ratio.differs:
            return f"A {what} takes {span(took(medians[fast]), took(medians[slow]))}; {words}."

        def ends(which: str, number: int) -> str:
            rows = not_told_apart(number, paces)
            times = span(*(took(pick(medians[row] for row in rows)) for pick in (min, max)))
            return f"{which} {listed_rows(rows)} ({times}{', not told apart' * (len(rows) > 1)})"

        return f"{what.capitalize()}es: {ends('fastest', fast)}, {ends('slowest', slow)}; {words}."

    @property
    def _backward(self) -> str:
        if not self.plan.setup.backward:
            return ""
        ratios = [Pace(row.training).over(Pace(row.forward)) for row in self.rows if row.training]
        factors = [ratio.interval.middle for ratio in ratios if ratio.differs]
        if not factors:
            return ""
        times = span(f"{min(factors):.1f}", f"{max(factors):.1f}")
        return f"{TRAINING.capitalize()} takes {times} times as long as {FORWARD}."

    @property
    def _missing(self) -> str:
        """Rows that lack a figure; nothing more where none has a forward time, as that is said already."""
        lacking = {kind: [number for number in self.numbers if self.reason(number, kind)] for kind in self.kinds(1)}
        unsaid = {
            kind: rows for kind, rows in lacking.items() if rows and (self.measured or len(rows) < len(self.rows))
        }
        if not unsaid:
            return ""
        if len({tuple(rows) for rows in lacking.values()}) == 1:
            return f"Without a figure: {listed_rows(lacking[FORWARD])}; the table says why."
        each = [f"without a figure for {kind}: {listed_rows(rows)}" for kind, rows in unsaid.items()]
        return f"{'; '.join(each)}; the table says why.".capitalize()

    def chart(self) -> Content:
        drawn = [self._strip(number, kind) for number in self.numbers for kind in self.kinds(number)]
        return _dots(drawn, axis="ms per call", unit="ms", least=True)

    def _strip(self, number: int, kind: str) -> Strip:
        blocks = self.kinds(number)[kind]
        low, high = blocks.quartiles
        return Strip(
            name=self.row_name(number),
            detail=self.size(number),
            group=kind,
            dots=[1000 * seconds for seconds in blocks.sample.values()],
            rounds=list(blocks.sample),
            low=1000 * low,
            middle=1000 * blocks.median,
            high=1000 * high,
            end=median_or_why(blocks),
            said=self.of_row(number, kind),
        )

    def table(self) -> pd.DataFrame:
        """A line per timing, disturbed ones too."""
        timings = [
            (number, row.target, self.size(number), kind, which + 1, 1000 * seconds, contended)
            for number, row in enumerate(self.plan.rows, 1)
            for kind, blocks in self.kinds(number).items()
            for which, seconds, contended in _blocks(blocks)
        ]
        names = ["row", "target", "d_model, heads, layers, length", "what", "round", "ms per call", "disturbed"]
        return self.stamped(pd.DataFrame(timings, columns=names).set_index("row"))

    def recipe(self) -> str:
        """A script that leaves the seconds of each row's rounds in `seconds`."""
        return self.script(every_round)


def median_or_why(blocks: Blocks) -> str:
    """The median in words, or why there is none."""
    if not blocks.sample:
        return "too few rounds" if blocks.every else "not measured"
    return f"{took(blocks.median)}, under load" if blocks.under_load else took(blocks.median)


def _in_words(blocks: Blocks) -> str:
    if not blocks.sample:
        return ""
    low, high = blocks.quartiles
    contended = f"; {formats.plural(blocks.contended, 'disturbed timing')} left out" if blocks.contended else ""
    if blocks.under_load:
        contended = f"; measured under load, {formats.plural(len(blocks.clean), 'round')} undisturbed"
    return (
        f"median {took(blocks.median)}, middle half {took(low)} to {took(high)}, minimum {took(blocks.minimum)}, "
        f"{formats.plural(len(blocks.sample), 'round')}{contended}"
    )


def _blocks(blocks: Blocks) -> list[tuple[int, float, bool]]:
    """Round, seconds, and whether it was contended; by round."""
    clean = [(number, seconds, False) for number, seconds in zip(blocks.rounds, blocks.seconds, strict=True)]
    loaded = zip(blocks.loaded_rounds, blocks.loaded, strict=True)
    return sorted([*clean, *((number, seconds, True) for number, seconds in loaded)])


@dataclass(frozen=True)
class RowRatio:
    """A row over the baseline."""

    number: int
    """The number of the row, from 1."""

    kind: str
    """What was timed: forward, or forward + backward."""

    ratio: Ratio
    """How the two compare."""

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
        pairs, interval = formats.plural(len(self.rounds), "pair"), self.ratio.interval
        if isnan(interval.low):
            return f"{self.in_short}, {pairs}"
        low, middle, high = map(_figure, (interval.low, interval.middle, interval.high))
        return f"{middle}, interval {low} to {high}: {self.ratio.verdict}; {pairs}{self.mark}"

    @property
    def factor(self) -> str:
        """The ratio as a factor: 2×, or 0.4% longer."""
        return self.ratio.factor.removesuffix(" than").removesuffix(" as long as")


def _figure(ratio: float) -> str:
    """2.04; near 1, where it is the difference that counts, 1.0042."""
    return f"{ratio:.4f}" if abs(ratio - 1) < units.NEAR else units.three(ratio)


class Ratios(ProfilingPanel):
    """Each row over the baseline."""

    title = "Ratios, round by round"
    how_to_read = (
        "A dot is one round: the time of a row divided by the time of the chosen row in the same round. "
        "The bar is the median, the box its interval. If the box contains 1, the two cannot be told apart. “More” "
        "above chooses the other row."
    )
    sources = (statistics.ratio, statistics.median_interval, statistics.verdict)

    @property
    def picture_name(self) -> str:
        return self.name if self.report else ""

    @property
    def baseline(self) -> int:
        """The number of the row that others are compared with; the last row, if there are fewer."""
        return min(self.state.baseline, len(self.rows))

    @cached_property
    def all(self) -> list[RowRatio]:
        """Each row but the baseline over the baseline, where that has a time: forward, forward + backward."""
        bases = self.kinds(self.baseline)
        return [
            RowRatio(number, kind, self.ratio(number, self.baseline, kind))
            for number in self.numbers
            if number != self.baseline
            for kind in self.kinds(number)
            if bases[kind].sample
        ]

    def sentence(self) -> str:
        """Which rows are slower and faster than the baseline, and which cannot be told apart from it."""
        base = self.row_name(self.baseline)
        if len(self.rows) == 1:
            return "One row alone: add another to compare it with."
        if self.report is None:
            return NOT_MEASURED
        if not self.kinds(self.baseline)[FORWARD].sample:
            what = "No forward pass" if self.all else "Nothing"
            return f"{what} can be compared with row {base}: {self.reason(self.baseline)}."
        forward = [ratio for ratio in self.all if ratio.kind == FORWARD]
        paired = [ratio for ratio in forward if ratio.rounds]
        counted = f" {_span([len(ratio.rounds) for ratio in paired])} each, intervals at 95%." if paired else ""
        marked = [ratio.number for ratio in paired if ratio.mark]
        load = f" Measured under load: {listed_rows(marked)}." if marked else ""
        return f"Forward beside row {base}, {'; '.join(_by_verdict(forward))}.{counted}{load}"

    def chart(self) -> Content:
        base = f"row {self.baseline}"
        drawn = [
            Strip(
                name=self.row_name(row.number),
                detail="",
                group=row.kind,
                dots=list(row.rounds.values()),
                rounds=list(row.rounds),
                low=row.ratio.interval.low,
                middle=row.ratio.interval.middle,
                high=row.ratio.interval.high,
                end=row.in_short,
                said=f"{self.row_name(row.number)}, {row.kind}, over {base}:\n{row.in_words}",
            )
            for row in self.all
        ]
        return _dots(drawn, axis=f"times as long as {base}", unit="", line=(base, 1.0))

    def table(self) -> pd.DataFrame:
        """A line per row and kind."""
        lines = [
            (
                row.number,
                self.plan.rows[row.number - 1].target,
                self.size(row.number),
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
        return self.stamped(pd.DataFrame(lines, columns=[*names, "measured under load"]).set_index("row"))

    def recipe(self) -> str:
        """A script that leaves the `ratios`, one for each row."""
        return self.script(ratios_to_row, baseline=self.baseline - 1)


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
