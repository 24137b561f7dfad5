"""Roofline: what each row reaches of what this machine can do at its intensity (Williams, Waterman, Patterson 2009)."""

import math
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Machine, Row, costs
from tfm_ui.figures import look, units
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.asked import UNMEASURED, asked, without
from tfm_ui.profiling_lens.compare import Compared, listed_rows, recipe
from tfm_ui.profiling_lens.state import ProfilingState


@dataclass(frozen=True)
class Point:
    """A row under the roof.

    Attributes:
        number: of the row, from 1.
        row: what was measured.
        intensity: FLOPs for each byte that must be read or written at least.
        rate: FLOP per second of the median forward pass; NaN where there is none.
        roof: FLOP per second that this machine can reach at this intensity; NaN where the roof was not measured.
        why: there is no rate; "" if there is one.
    """

    number: int
    row: Row
    intensity: float
    rate: float
    roof: float
    why: str

    @property
    def share(self) -> float:
        """Of what is attainable; NaN where it is not known."""
        return self.rate / self.roof


@dataclass(frozen=True)
class Roofline:
    """All rows, and the roof.

    Attributes:
        of: the rows, and their measurement.
    """

    of: Compared

    @property
    def machine(self) -> Machine | None:
        """Where it was measured, if its roof was."""
        machine = self.of.report.machine if self.of.report else None
        known = machine and machine.flops_per_second > 0 and machine.bytes_per_second > 0
        return machine if known else None

    @property
    def ridge(self) -> float:
        """FLOPs per byte at which the roof becomes flat; NaN where it was not measured."""
        return self.machine.flops_per_second / self.machine.bytes_per_second if self.machine else math.nan

    def roof(self, intensity: float) -> float:
        """FLOP per second that can be reached; NaN where it was not measured."""
        if not self.machine:
            return math.nan
        return min(self.machine.flops_per_second, self.machine.bytes_per_second * intensity)

    @cached_property
    def points(self) -> list[Point]:
        """One for each row."""
        found = []
        for number, one in enumerate(self.of.rows, 1):
            flops = sum(costs.flops(one.row).values())
            intensity = flops / costs.bytes_moved(one.row, self.of.plan.setup)
            rate, why = flops / one.forward.median, self.of.reason(number)
            found.append(Point(number, one.row, intensity, rate, self.roof(intensity), why))
        return found

    @property
    def there(self) -> list[Point]:
        """Those that have a rate."""
        return [point for point in self.points if math.isfinite(point.rate)]

    @property
    def sentence(self) -> str:
        """Which rows are bound by memory, which by arithmetic, and what share of the roof they reach."""
        if not self.of.report:
            return f"{UNMEASURED} The roof is measured in the same run. {self._intensities}"
        if not self.there:
            return f"{without(self.of)} {self._intensities}"
        if not self.machine:
            return (
                f"No roof: the matrix product or the copy had no clean block. {self._rates} {without(self.of)}".strip()
            )
        memory = [point.number for point in self.points if point.intensity < self.ridge]
        arithmetic = [point.number for point in self.points if point.intensity >= self.ridge]
        peak, copy = self.machine.flops_per_second / 1e9, self.machine.bytes_per_second / 1e9
        said = [
            f"Measured in the same run: a large matrix product reaches {units.three(peak)} GFLOP/s, a large copy "
            f"{units.three(copy)} GB/s, so the roof turns at {units.three(self.ridge)} operations per byte."
        ]
        if memory:
            are = "stands" if len(memory) == 1 else "stand"
            said.append(f"{listed_rows(memory).capitalize()} {are} under the slope: bound by memory.")
        if arithmetic:
            are = "stands" if len(arithmetic) == 1 else "stand"
            said.append(f"{listed_rows(arithmetic).capitalize()} {are} under the flat roof: bound by arithmetic.")
        said.append(self._reached)
        above = [point.number for point in self.there if point.share > 1]
        if above:
            said.append(f"Above the roof: {listed_rows(above)}, as caches are faster than memory.")
        return " ".join([*said, without(self.of)]).strip()

    @property
    def _reached(self) -> str:
        low, high = (pick(self.there, key=lambda point: point.share) for pick in (min, max))
        if low is high:
            return f"It reaches {look.percent(low.share)} of what it could."
        return (
            f"Of what could be reached, row {low.number} gets least, {look.percent(low.share)}, and row {high.number} "
            f"most, {look.percent(high.share)}."
        )

    @property
    def _rates(self) -> str:
        best = max(self.there, key=lambda point: point.rate)
        return f"The fastest, row {best.number}, does {units.three(best.rate / 1e9)} GFLOP/s."

    @property
    def _intensities(self) -> str:
        low, high = (pick(point.intensity for point in self.points) for pick in (min, max))
        span = (
            units.three(low) if units.three(low) == units.three(high) else f"{units.three(low)} to {units.three(high)}"
        )
        rows = "This row does" if len(self.points) == 1 else f"These {len(self.points)} rows do"
        return f"{rows} {span} operations for each byte that must be moved at least."

    def table(self) -> pd.DataFrame:
        """A row per configuration."""
        points = self.points
        columns: dict[str, list[str] | list[float]] = {
            "target": [point.row.target for point in points],
            "configuration": [self.of.size(point.number) for point in points],
            "FLOP per byte": [point.intensity for point in points],
            "GFLOP/s": [point.rate / 1e9 for point in points],
            "attainable GFLOP/s": [point.roof / 1e9 for point in points],
            "share": [point.share for point in points],
            "without a figure": [point.why for point in points],
        }
        return self.of.stamped(pd.DataFrame(columns, index=pd.Index([point.number for point in points], name="row")))

    @property
    def recipe(self) -> str:
        """Lines of Python that leave `intensity`, `rate` and `roof`, one for each row."""
        return recipe(
            self.of.plan,
            "",
            "from tfm_core.profiling import costs",
            f"setup, machine = {self.of.plan.setup!r}, report.machine",
            "flops = [sum(costs.flops(row).values()) for row in rows]",
            "intensity = [count / costs.bytes_moved(row, setup) for row, count in zip(rows, flops)]  # FLOP per byte",
            "rate = [count / median for count, median in zip(flops, medians)]  # FLOP per second",
            "roof = [min(machine.flops_per_second, machine.bytes_per_second * x) for x in intensity]",
        )


def roofline(model: ModelState, state: ProfilingState) -> Roofline | None:
    """What the view "roofline" shows; None if there are no rows."""
    found = asked(model, state, "roofline")
    return Roofline(found) if found else None
