"""The table of costs: a line per row, what is known without measuring and what was measured."""

from dataclasses import dataclass, replace
from math import isnan

import pandas as pd

from tfm_core.profiling import Machine, Report, files
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.rates import Rates, above_the_product
from tfm_ui.lenses.profiling.recipes import median_times
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units


@dataclass(frozen=True)
class CostTable(Result):
    """What each row costs.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    def table(self) -> pd.DataFrame:
        """A line per row, its number in front; the same columns as the command's, and at last where they come from."""
        comparison = self.comparison
        nowhere = Machine(device="", processor="", cores=0, system="", torch="")
        report = comparison.report or Report(id="", plan=comparison.plan, machine=nowhere)
        lines = pd.DataFrame(files.table(replace(report, measured=tuple(comparison.rows))))
        reasons = ["; ".join(comparison.reasons(number)) for number in comparison.numbers]
        del lines["problem"]
        lines.insert(list(lines).index("MFLOP") + 1, "problem", reasons)  # where the figures would be
        return comparison.stamped(lines.set_index(pd.Index(comparison.numbers, name="row")))

    def sentence(self) -> str:
        """Parameters and operations from the least to the most, and which row comes closest to the machine's limit."""
        comparison = self.comparison
        counts, flops = zip(*((comparison.parameters(n), comparison.flops(n)) for n in comparison.numbers), strict=True)
        number = units.span(formats.count(min(counts)), formats.count(max(counts)))
        rows = formats.plural(len(comparison.rows), "row")
        said = f"{rows}: {number} parameters, {units.flop_of(min(flops), max(flops))} for a forward pass."
        if not comparison.report:
            return f"{said} Press Measure for the times."
        times = [self._peak(comparison.report.machine), comparison.under_load(*comparison.kinds(1))]
        return " ".join(part for part in (said, *times) if part)

    def _peak(self, machine: Machine) -> str:
        peak, rates = machine.flops_per_second, Rates(self.comparison)
        if isnan(peak) or not rates.rated:
            return ""
        best = max(rates.rated, key=lambda point: point.rate)
        said = f"{rates.leaders}; a large matrix product {units.three(peak / 1e9)}."
        above = best.rate > peak
        return f"{said} {above_the_product([best], self.comparison.plan.setup)}".strip() if above else said

    def recipe(self) -> str:
        """A script that leaves the `report`, and each row's median in `medians`, in seconds."""
        return self.comparison.recipe(median_times)
