"""Every round of every row, and which row takes how long."""

from dataclasses import dataclass

import pandas as pd

from tfm_core.profiling import Blocks
from tfm_ui.lenses.profiling.comparison import FORWARD, NOT_MEASURED, TRAINING, Comparison, listed_rows
from tfm_ui.lenses.profiling.pace import Pace, not_told_apart
from tfm_ui.lenses.profiling.recipes import every_round
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.units import span, took


@dataclass(frozen=True)
class Times(Result):
    """All that was timed.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    def of_row(self, number: int, kind: str) -> str:
        """All that was measured of a row, counted from 1, in words."""
        comparison = self.comparison
        why = comparison.reason(number, kind).removeprefix(f"{TRAINING}: ")
        return f"{comparison.name(number)}, {kind}:\n{_in_words(comparison.kinds(number)[kind]) or why}"

    def sentence(self) -> str:
        """Which rows are the slowest and which the fastest, and what backward adds."""
        comparison = self.comparison
        if comparison.report is None:
            return NOT_MEASURED
        load = comparison.under_load(*comparison.kinds(1))
        said = [self._extremes(), self._backward(), self._missing(), load]
        return " ".join(part for part in said if part)

    def _extremes(self) -> str:
        """The extremes of the forward passes; where none has a figure, those of forward + backward."""
        comparison = self.comparison
        if comparison.measured:
            return self._between(FORWARD, "forward pass")
        if comparison.plan.setup.backward and comparison.timed(TRAINING):
            return f"{comparison.nothing} {self._between(TRAINING, 'forward + backward pass')}"
        return comparison.nothing

    def _between(self, kind: str, what: str) -> str:
        paces = {number: Pace(self.comparison.kinds(number)[kind]) for number in self.comparison.timed(kind)}
        medians = {number: pace.blocks.median for number, pace in paces.items()}
        slow, fast = max(medians, key=medians.__getitem__), min(medians, key=medians.__getitem__)
        if slow == fast:
            return f"A {what} of row {slow} takes {took(medians[slow])}, the median of its rounds."
        ratio = paces[slow].over(paces[fast])
        words = ratio.in_words(f"row {slow}", f"row {fast}")
        if not ratio.differs:
            return f"A {what} takes {span(took(medians[fast]), took(medians[slow]))}; {words}."

        def ends(which: str, number: int) -> str:
            rows = not_told_apart(number, paces)
            times = span(*(took(pick(medians[row] for row in rows)) for pick in (min, max)))
            return f"{which} {listed_rows(rows)} ({times}{', not told apart' * (len(rows) > 1)})"

        return f"{what.capitalize()}es: {ends('fastest', fast)}, {ends('slowest', slow)}; {words}."

    def _backward(self) -> str:
        if not self.comparison.plan.setup.backward:
            return ""
        ratios = [Pace(row.training).over(Pace(row.forward)) for row in self.comparison.rows if row.training]
        factors = [ratio.interval.middle for ratio in ratios if ratio.differs]
        if not factors:
            return ""
        many = span(f"{min(factors):.1f}", f"{max(factors):.1f}")
        return f"{TRAINING.capitalize()} takes {many} times as long as {FORWARD}."

    def _missing(self) -> str:
        """Rows that lack a figure; nothing more where none has a forward time, as that is said already."""
        comparison = self.comparison
        lacking = {
            kind: [number for number in comparison.numbers if comparison.reason(number, kind)]
            for kind in comparison.kinds(1)
        }
        told = {
            kind: rows
            for kind, rows in lacking.items()
            if rows and (comparison.measured or len(rows) < len(comparison.rows))
        }
        if not told:
            return ""
        if len({tuple(rows) for rows in lacking.values()}) == 1:
            return f"Without a figure: {listed_rows(lacking[FORWARD])}; the table says why."
        each = [f"without a figure for {kind}: {listed_rows(rows)}" for kind, rows in told.items()]
        return f"{'; '.join(each)}; the table says why.".capitalize()

    def table(self) -> pd.DataFrame:
        """A line per timing, disturbed ones too."""
        comparison = self.comparison
        lines = pd.DataFrame(
            [
                (number, row.target, comparison.size(number), kind, which + 1, 1000 * seconds, contended)
                for number, row in enumerate(comparison.plan.rows, 1)
                for kind, blocks in comparison.kinds(number).items()
                for which, seconds, contended in _blocks(blocks)
            ],
            columns=["row", "target", "d_model, heads, layers, length", "what", "round", "ms per call", "disturbed"],
        )
        return comparison.stamped(lines.set_index("row"))

    def recipe(self) -> str:
        """A script that leaves the seconds of each row's rounds in `seconds`."""
        return self.comparison.recipe(every_round)


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
