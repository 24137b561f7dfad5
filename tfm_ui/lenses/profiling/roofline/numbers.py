"""Roofline: what each row reaches of what this machine can do at its intensity (Williams, Waterman, Patterson 2009)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Machine, Row, Setup, costs
from tfm_ui.lenses.profiling.asked import UNMEASURED, asked, without
from tfm_ui.lenses.profiling.beside import Pace, alike, beside
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, Compared, listed_rows, recipe
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, units


@dataclass(frozen=True)
class Point:
    """A row under the roof.

    Attributes:
        number: of the row, from 1.
        row: what was measured.
        flops: of a forward pass.
        intensity: FLOPs for each byte that must be read or written at least.
        rate: FLOP per second of the median forward pass; NaN where there is none.
        roof: FLOP per second that copying and a large matrix product allow at this intensity; NaN if not measured.
        why: there is no rate; "" if there is one.
    """

    number: int
    row: Row
    flops: int
    intensity: float
    rate: float
    roof: float
    why: str

    @property
    def share(self) -> float:
        """Of the roof, more than 1 above it; NaN where it is not known."""
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
        """FLOP per second at an intensity; NaN where it was not measured."""
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
            found.append(Point(number, one.row, flops, intensity, rate, self.roof(intensity), why))
        return found

    @property
    def there(self) -> list[Point]:
        """Those that have a rate."""
        return [point for point in self.points if math.isfinite(point.rate)]

    @property
    def leaders(self) -> str:
        """Which row does most in a second, or which rows cannot be told apart there; of those that have a rate."""
        of = {point.number: self._pace(point, 1) for point in self.there}
        best = max(self.there, key=lambda point: point.rate)
        rows, rate = alike(best.number, of), f"{units.three(best.rate / 1e9)} GFLOP/s"
        return f"{listed_rows(rows).capitalize()} {'do' if len(rows) > 1 else 'does'} most in a second: {rate}"

    def _pace(self, point: Point, roof: float) -> Pace:
        return Pace(self.of.rows[point.number - 1].forward, point.flops / roof)

    @property
    def sentence(self) -> str:
        """Which rows are bound by memory, which by arithmetic, and what share of the roof they reach."""
        if not self.of.report:
            return f"{UNMEASURED} The roof is measured in the same run. {self._intensities}"
        if not self.there:
            return f"{without(self.of)} {self._intensities}"
        if not self.machine:
            return f"No roof: the matrix product or the copy was not measured. {self.leaders}. {self._marked}".strip()
        memory = [point.number for point in self.there if point.intensity < self.ridge]
        arithmetic = [point.number for point in self.there if point.intensity >= self.ridge]
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
        return " ".join(part for part in (without(self.of), self.of.under_load(FORWARD), roof) if part)

    @property
    def _above(self) -> list[str]:
        """Which rows lie above which side of the roof, and the likely reason."""
        assert self.machine
        flat = [point for point in self.there if point.rate > self.machine.flops_per_second]
        slope = [point.number for point in self.there if point.share > 1 and point not in flat]
        said = []
        if slope:
            said.append(f"Above the slope: {listed_rows(slope)}, likely as caches are faster than memory.")
        if flat:
            rows = listed_rows([point.number for point in flat])
            said.append(f"Above the flat roof: {rows}. {above_the_product(flat, self.of.plan.setup)}")
        return said

    @property
    def _reached(self) -> str:
        low, high = (pick(self.there, key=lambda point: point.share) for pick in (min, max))
        if low is high:
            return f"It reaches {look.percent(low.share)} of the roof."
        apart = beside(self._pace(low, low.roof), self._pace(high, high.roof))
        if not apart.differs:
            shares, rows = units.span(look.percent(low.share), look.percent(high.share)), (low.number, high.number)
            return f"Rows reach {shares} of the roof; rows {min(rows)} and {max(rows)} cannot be told apart in it."
        return (
            f"Row {low.number} reaches least of the roof, {look.percent(low.share)}, and row {high.number} most, "
            f"{look.percent(high.share)}."
        )

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
            "configuration": [self.of.size(point.number) for point in points],
            "FLOP per byte": [point.intensity for point in points],
            "GFLOP/s": [point.rate / 1e9 for point in points],
            "roof GFLOP/s": [point.roof / 1e9 for point in points],
            "share of the roof": [point.share for point in points],
            "measured under load": [one.forward.under_load for one in self.of.rows],
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


def above_the_product(points: Sequence[Point], setup: Setup) -> str:
    """Why these rows can do more in a second than a large matrix product, as far as it is known."""
    apart = {"LSTM", "GRU", "convolution"} & {point.row.target for point in points if setup.dtype == "float32"}
    if apart and setup.device == "cuda":
        return "Likely cuDNN, which computes convolutions and recurrences, uses TF32 where the product does not."
    if apart - {"GRU"} and setup.device == "cpu":
        return (
            "Likely torch computes convolutions and LSTMs with wider instructions (oneDNN) than its matrix product, "
            "whose library is another."
        )
    said = "The roof is what one large product reached; smaller ones, held in caches, can be faster."
    if any(point.row.target.startswith("fused") and point.row.size.looks_back_only for point in points):
        said += " A fused kernel also passes over scores that the causal mask hides; they are counted all the same."
    return said


def roofline(model: ModelState, state: ProfilingState) -> Roofline | None:
    """What the view "roofline" shows; None if there are no rows."""
    found = asked(model, state, "roofline")
    return Roofline(found) if found else None
