"""Roofline: what each row reaches of what this machine can do at its intensity (Williams, Waterman, Patterson 2009)."""

from collections.abc import Mapping

import pandas as pd

from tfm_ui.lenses.profiling.comparison import FORWARD, UNMEASURED, listed_rows
from tfm_ui.lenses.profiling.pace import Pace, not_told_apart
from tfm_ui.lenses.profiling.rates import Rates, above_the_product
from tfm_ui.lenses.profiling.recipes import rate_and_roof
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units


class Roofline(Rates, Result):
    """Each row under the roof."""

    def sentence(self) -> str:
        """Which rows are bound by memory, which by arithmetic, and what share of the roof they reach."""
        if not self.comparison.report:
            return f"{UNMEASURED} The roof is measured in the same run. {self._intensities}"
        if not self.rated:
            return f"{self.comparison.without_time} {self._intensities}"
        if not self.machine:
            return f"No roof: the matrix product or the copy was not measured. {self.leaders}. {self._marked}".strip()
        memory = [point.number for point in self.rated if point.intensity < self.ridge]
        arithmetic = [point.number for point in self.rated if point.intensity >= self.ridge]
        peak, copy = self.machine.flops_per_second / 1e9, self.machine.bytes_per_second / 1e9
        said = [
            f"Measured in the same run: a large matrix product reaches {units.three(peak)} GFLOP/s, a large copy "
            f"{units.three(copy)} GB/s, so the roof turns at {units.three(self.ridge)} operations per byte."
        ]
        if memory:
            lie = "lies" if len(memory) == 1 else "lie"
            said.append(f"{listed_rows(memory).capitalize()} {lie} left of the ridge, where memory sets the limit.")
        if arithmetic:
            lie = "lies" if len(arithmetic) == 1 else "lie"
            said.append(
                f"{listed_rows(arithmetic).capitalize()} {lie} right of the ridge, where arithmetic sets the limit."
            )
        return " ".join([*said, self._reached, *self._above, self._marked]).strip()

    @property
    def _marked(self) -> str:
        """Which rows have no figure, and what was measured under load."""
        roof = "The roof was measured under load." if self.machine and self.machine.under_load else ""
        return " ".join(
            part for part in (self.comparison.without_time, self.comparison.under_load(FORWARD), roof) if part
        )

    @property
    def _above(self) -> list[str]:
        """Which rows lie above which side of the roof, and the likely reason."""
        assert self.machine
        flat = [point for point in self.rated if point.rate > self.machine.flops_per_second]
        slope = [point.number for point in self.rated if point.share > 1 and point not in flat]
        said = []
        if slope:
            said.append(f"Above the slope: {listed_rows(slope)}, likely as caches are faster than memory.")
        if flat:
            rows = listed_rows([point.number for point in flat])
            said.append(f"Above the flat roof: {rows}. {above_the_product(flat, self.comparison.plan.setup)}")
        return said

    @property
    def _reached(self) -> str:
        low, high = (pick(self.rated, key=lambda point: point.share) for pick in (min, max))
        if low is high:
            return f"It reaches {formats.percent(low.share)} of the roof."
        if not self.pace(low, low.roof).over(self.pace(high, high.roof)).differs:
            shares, rows = (
                units.span(formats.percent(low.share), formats.percent(high.share)),
                (low.number, high.number),
            )
            return f"Rows reach {shares} of the roof; rows {min(rows)} and {max(rows)} cannot be told apart in it."
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
            "target": [point.row.target for point in points],
            "configuration": [self.comparison.size(point.number) for point in points],
            "FLOP per byte": [point.intensity for point in points],
            "GFLOP/s": [point.rate / 1e9 for point in points],
            "roof GFLOP/s": [point.roof / 1e9 for point in points],
            "share of the roof": [point.share for point in points],
            "measured under load": [measured.forward.under_load for measured in self.comparison.rows],
            "without a figure": [point.why for point in points],
        }
        return self.comparison.stamped(
            pd.DataFrame(columns, index=pd.Index([point.number for point in points], name="row"))
        )

    def recipe(self) -> str:
        """A script that leaves `intensity`, `rate` and `roof`, one for each row."""
        return self.comparison.recipe(rate_and_roof)
