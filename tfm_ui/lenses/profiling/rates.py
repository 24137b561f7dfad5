"""How much each row computes in a second, beside what this machine can (Williams, Waterman, Patterson 2009)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfm_core.profiling import Machine, Row, Setup, costs
from tfm_ui.lenses.profiling.comparison import Comparison, listed_rows
from tfm_ui.lenses.profiling.pace import Pace, not_told_apart
from tfm_ui.text import units


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
        why: the reason where there is no rate; "" where there is one.
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
        """The share of the roof, more than 1 above it; NaN where it is not known."""
        return self.rate / self.roof


@dataclass(frozen=True)
class Rates:
    """The rates of all rows, and the roof over them.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    @property
    def machine(self) -> Machine | None:
        """Where it was measured, if its roof was."""
        machine = self.comparison.report.machine if self.comparison.report else None
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
        points = []
        for number, measured in enumerate(self.comparison.rows, 1):
            flops = self.comparison.flops(number)
            intensity = flops / costs.bytes_moved(measured.row, self.comparison.plan.setup)
            rate, why = flops / measured.forward.median, self.comparison.reason(number)
            points.append(Point(number, measured.row, flops, intensity, rate, self.roof(intensity), why))
        return points

    @property
    def rated(self) -> list[Point]:
        """The points that have a rate."""
        return [point for point in self.points if math.isfinite(point.rate)]

    @property
    def leaders(self) -> str:
        """Which row does most in a second, and which rows cannot be told apart from it; of those that have a rate."""
        paces = {point.number: self.pace(point, 1) for point in self.rated}
        best = max(self.rated, key=lambda point: point.rate)
        rate = f"{units.three(best.rate / 1e9)} GFLOP/s"
        others = [number for number in not_told_apart(best.number, paces) if number != best.number]
        if not others:
            return f"Row {best.number} does most in a second, {rate}"
        cannot = f"{listed_rows(others)} cannot be told apart from it"
        return f"The highest rate on screen is that of row {best.number}, {rate}; {cannot}"

    def pace(self, point: Point, roof: float) -> Pace:
        """What comparisons of its share of a roof need."""
        return Pace(self.comparison.rows[point.number - 1].forward, point.flops / roof)


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
