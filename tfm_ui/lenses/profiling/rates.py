"""What each row reaches of what this machine can do: the roofline model (Williams, Waterman, Patterson 2009)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfm_core.profiling import Machine, Plan, Row, Setup, costs
from tfm_ui.lenses.profiling.pace import Pace, not_told_apart
from tfm_ui.lenses.profiling.rows import (
    ProfilingPanel,
    listed_rows,
    measure,
    total_flops,
)
from tfm_ui.text import units


def operations_per_byte(row: Row, setup: Setup) -> float:
    """FLOPs for each byte that must be read or written at least, in closed form."""
    return total_flops(row) / costs.bytes_moved(row, setup)


def roof_at(machine: Machine, intensity: float) -> float:
    """FLOP per second that copying and a large matrix product allow at so many FLOPs for each byte."""
    return min(machine.flops_per_second, machine.bytes_per_second * intensity)


def rate_and_roof(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[float], list[float], list[float]]:
    """Each row's FLOPs per byte, its FLOPs per second, and how many of these the machine allows there."""
    report = measure(Plan(rows, setup))
    intensity = [operations_per_byte(row, setup) for row in rows]
    rate = [total_flops(measured.row) / measured.forward.median for measured in report.measured]
    roof = [roof_at(report.machine, per_byte) for per_byte in intensity]
    return intensity, rate, roof


def above_the_product(rows: Sequence[Row], setup: Setup) -> str:
    """Why these rows can do more in a second than a large matrix product, as far as it is known."""
    apart = {"LSTM", "GRU", "convolution"} & {row.target for row in rows if setup.dtype == "float32"}
    if apart and setup.device == "cuda":
        return "Likely cuDNN, which computes convolutions and recurrences, uses TF32 where the product does not."
    if apart - {"GRU"} and setup.device == "cpu":
        return (
            "Likely torch computes convolutions and LSTMs with wider instructions (oneDNN) than its matrix product, "
            "whose library is another."
        )
    why = "The roof is what one large product reached; smaller ones, held in caches, can be faster."
    if any(row.target.startswith("fused") and row.size.looks_back_only for row in rows):
        why += " A fused kernel also passes over scores that the causal mask hides; they are counted all the same."
    return why


@dataclass(frozen=True)
class Point:
    """A row under the roof."""

    number: int
    """The number of the row, from 1."""

    intensity: float
    """FLOPs for each byte that must be read or written at least."""

    rate: float
    """FLOP per second of the median forward pass; NaN where there is none."""

    roof: float
    """FLOP per second that copying and a large matrix product allow at this intensity; NaN if not measured."""

    @property
    def share(self) -> float:
        """The share of the roof, more than 1 above it; NaN where it is not known."""
        return self.rate / self.roof


class Rates(ProfilingPanel):
    """The rates of all rows, and the roof over them."""

    @property
    def machine(self) -> Machine | None:
        """Where it was measured, if its roof was."""
        machine = self.report.machine if self.report else None
        known = machine and machine.flops_per_second > 0 and machine.bytes_per_second > 0
        return machine if known else None

    @property
    def ridge(self) -> float:
        """FLOPs per byte at which the roof becomes flat; NaN where it was not measured."""
        return self.machine.flops_per_second / self.machine.bytes_per_second if self.machine else math.nan

    @cached_property
    def points(self) -> list[Point]:
        """One for each row."""
        points = []
        for number, measured in enumerate(self.rows, 1):
            intensity = operations_per_byte(measured.row, self.plan.setup)
            roof = roof_at(self.machine, intensity) if self.machine else math.nan
            points.append(Point(number, intensity, self.flops_of(number) / measured.forward.median, roof))
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

    def why_above(self, numbers: Sequence[int]) -> str:
        """Why these rows can do more in a second than a large matrix product, as far as it is known."""
        return above_the_product([self.plan.rows[number - 1] for number in numbers], self.plan.setup)

    def pace(self, point: Point, roof: float) -> Pace:
        """What comparisons of its share of a roof need."""
        return Pace(self.rows[point.number - 1].forward, self.flops_of(point.number) / roof)
