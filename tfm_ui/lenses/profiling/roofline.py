"""The view "roofline": what each row reaches of what this machine can do (Williams, Waterman, Patterson 2009)."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from tfm_core.profiling import costs, files, profile
from tfm_ui.lenses.profiling.pace import Pace, not_told_apart
from tfm_ui.lenses.profiling.rates import Point, Rates, rate_and_roof
from tfm_ui.lenses.profiling.row_controls import of_rows, random_numbers
from tfm_ui.lenses.profiling.rows import (
    FORWARD,
    NOTES,
    UNMEASURED,
    grouped,
    listed_rows,
    no_rows,
)
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats, units


class Roofline(Rates):
    """Each row under the roof."""

    title = "Roofline"
    how_to_read = (
        "To the right: more operations for each byte that must be moved, by formula. Upwards: more "
        "operations in a second. The roof is what copying allows (thin) and what a large matrix product reaches "
        "(dashed); a row can lie above it. Rows are named by d_model, heads, layers and length."
    )
    sources = (costs.flops, costs.bytes_moved, profile)

    @property
    def picture_name(self) -> str:
        return self.name if self.report else ""

    @property
    def open_table(self) -> OpenTable:
        """A bar for the share, as long as the largest where rows lie above the roof."""
        longest = max([1.0, *(point.share for point in self.rated if self.machine)])
        share = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=longest)
        numbers = ("FLOP per byte", "GFLOP/s", "roof GFLOP/s")
        empty = {
            "measured under load": not any(row.forward.under_load for row in self.rows),
            "without a figure": all(self.reason(number) == "" for number in self.numbers),
        }
        hidden = [*(files.provenance(self.report) if self.report else {}), *(name for name in empty if empty[name])]
        drawn = {name: st.column_config.NumberColumn(format="%.2f") for name in numbers}
        return OpenTable(drawn | {"share of the roof": share} | dict.fromkeys(hidden))

    def chart(self) -> Content:
        """The measured roof and each row's dot under it; nothing where no row has a rate."""
        if not self.rated:
            return lines.content([])
        rows = [
            Line(
                f"{self.label(point)}{', under load' * self.rows[point.number - 1].forward.under_load}",
                [point.intensity],
                [point.rate / 1e9],
                f"head {(point.number - 1) % 8 + 1}",
                "dots",
                str(point.number),
            )
            for point in self.rated
        ]
        ridge = {f"ridge {units.three(self.ridge)}": self.ridge} if self.machine else {}
        drawn = [*self._roof(), *rows]
        return lines.content([Chart("operations per byte", "GFLOP/s", drawn, "log10", "log10", marks=ridge)])

    def label(self, point: Point) -> str:
        """A row in the chart: its target where there are several, and its line of the text box."""
        several = len({row.target for row in self.plan.rows}) > 1
        return f"{self.row_name(point.number) if several else point.number}: {self.size(point.number)}"

    def _roof(self) -> list[Line]:
        """The slope up to the ridge and the flat part after it, as far as there are rows, and a little further."""
        if self.machine is None:
            return []
        at = [self.ridge, *(point.intensity for point in self.rated)]
        low, high = min(at) / 2, max(at) * 2
        peak, copy = self.machine.flops_per_second / 1e9, self.machine.bytes_per_second / 1e9
        return [
            Line(f"peak {units.three(peak)} GFLOP/s", [self.ridge, high], [peak, peak], "ink", "dashed"),
            Line(f"copy {units.three(copy)} GB/s", [low, self.ridge], [low * copy, peak], "ink", "thin"),
        ]

    def sentence(self) -> str:
        """Which rows are bound by memory, which by arithmetic, and what share of the roof they reach."""
        if not self.report:
            return f"{UNMEASURED} The roof is measured in the same run. {self._intensities}"
        if not self.rated:
            return f"{self._without_time} {self._intensities}"
        if not self.machine:
            return f"No roof: the matrix product or the copy was not measured. {self.leaders}. {self._marked}".strip()
        left = [point.number for point in self.rated if point.intensity < self.ridge]
        right = [point.number for point in self.rated if point.intensity >= self.ridge]
        peak, copy = self.machine.flops_per_second / 1e9, self.machine.bytes_per_second / 1e9
        sentences = [
            f"Measured in the same run: a large matrix product reaches {units.three(peak)} GFLOP/s, a large copy "
            f"{units.three(copy)} GB/s, so the roof turns at {units.three(self.ridge)} operations per byte."
        ]
        for side, rows, limit in (("left", left, "memory"), ("right", right, "arithmetic")):
            if rows:
                lie = f"{listed_rows(rows).capitalize()} {'lies' if len(rows) == 1 else 'lie'}"
                sentences.append(f"{lie} {side} of the ridge, where {limit} sets the limit.")
        return " ".join([*sentences, self._reached, *self._above, self._marked]).strip()

    @property
    def _without_time(self) -> str:
        """Which rows have no time of their forward pass, and why; "" where all have one."""
        by_reason = grouped((reason, number) for number in self.numbers if (reason := self.reason(number)))
        return " ".join(f"{listed_rows(rows).capitalize()}: {reason}." for reason, rows in by_reason.items())

    @property
    def _marked(self) -> str:
        """Which rows have no figure, and what was measured under load."""
        roof = "The roof was measured under load." if self.machine and self.machine.under_load else ""
        return " ".join(filter(None, (self._without_time, self.under_load(FORWARD), roof)))

    @property
    def _above(self) -> list[str]:
        """Which rows lie above which side of the roof, and the likely reason."""
        assert self.machine
        flat = [point.number for point in self.rated if point.rate > self.machine.flops_per_second]
        slope = [point.number for point in self.rated if point.share > 1 and point.number not in flat]
        sentences = []
        if slope:
            sentences.append(f"Above the slope: {listed_rows(slope)}, likely as caches are faster than memory.")
        if flat:
            sentences.append(f"Above the flat roof: {listed_rows(flat)}. {self.why_above(flat)}")
        return sentences

    @property
    def _reached(self) -> str:
        low, high = (pick(self.rated, key=lambda point: point.share) for pick in (min, max))
        if low is high:
            return f"It reaches {formats.percent(low.share)} of the roof."
        if not self.pace(low, low.roof).over(self.pace(high, high.roof)).differs:
            shares = units.span(formats.percent(low.share), formats.percent(high.share))
            first, second = sorted((low.number, high.number))
            return f"Rows reach {shares} of the roof; rows {first} and {second} cannot be told apart in it."
        paces = {point.number: self.pace(point, point.roof) for point in self.rated}
        least, most = (self._with_its_equals(point.number, paces) for point in (low, high))
        return (
            f"{least} reaches least of the roof, {formats.percent(low.share)}, and {most[0].lower()}{most[1:]} most, "
            f"{formats.percent(high.share)}."
        )

    @staticmethod
    def _with_its_equals(number: int, paces: Mapping[int, Pace]) -> str:
        """A row, with those that cannot be told apart from it."""
        others = [row for row in not_told_apart(number, paces) if row != number]
        apart = f", from which {listed_rows(others)} cannot be told apart," if others else ""
        return f"Row {number}{apart}"

    @property
    def _intensities(self) -> str:
        low, high = (pick(point.intensity for point in self.points) for pick in (min, max))
        span = units.span(units.three(low), units.three(high))
        rows = "This row does" if len(self.points) == 1 else f"These {len(self.points)} rows do"
        return f"{rows} {span} operations for each byte that must be moved at least."

    def table(self) -> pd.DataFrame:
        """A row per configuration."""
        points = self.points
        columns: dict[str, list[str] | list[float] | list[bool]] = {
            "target": [row.target for row in self.plan.rows],
            "configuration": [self.size(number) for number in self.numbers],
            "FLOP per byte": [point.intensity for point in points],
            "GFLOP/s": [point.rate / 1e9 for point in points],
            "roof GFLOP/s": [point.roof / 1e9 for point in points],
            "share of the roof": [point.share for point in points],
            "measured under load": [measured.forward.under_load for measured in self.rows],
            "without a figure": [self.reason(number) for number in self.numbers],
        }
        return self.stamped(pd.DataFrame(columns, index=pd.Index(self.numbers, name="row")))

    def recipe(self) -> str:
        """A script that leaves `intensity`, `rate` and `roof`, one for each row."""
        return self.script(rate_and_roof)


VIEW = View(
    title="Roofline",
    tab="compare",
    shows=[Roofline, *NOTES],
    instead=no_rows,
    reads_instead=random_numbers,
    controls=of_rows,
)
