"""Parameters beside time: what the count of parameters tells of the cost, and what it does not."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.lenses.profiling.comparison import FORWARD, Comparison, listed_rows
from tfm_ui.lenses.profiling.pace import Pace
from tfm_ui.lenses.profiling.recipes import median_times
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units


@dataclass(frozen=True)
class ParametersAndCost(Result):
    """Each row's parameters, and its time; before there is a measurement, its operations.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    def cost(self, number: int) -> float:
        """Milliseconds of a row's forward pass, counted from 1; before there is a measurement, MFLOP."""
        if self.comparison.report is None:
            return self.comparison.flops(number) / 1e6
        return 1000 * self.comparison.rows[number - 1].forward.median

    @property
    def rows(self) -> list[int]:
        """The numbers of the rows that have a point."""
        return list(self.comparison.numbers) if self.comparison.report is None else self.comparison.measured

    @property
    def by_powers(self) -> bool:
        """Whether the costs differ so much that they are shown by powers of ten."""
        costs = [self.cost(number) for number in self.rows]
        return bool(costs) and max(costs) > 5 * min(costs)

    @property
    def how_to_read(self) -> str:
        """One line on the axes."""
        axes = "both axes by powers of ten" if self.by_powers else "the parameters by powers of ten"
        return f"A point per row, {axes}; points above each other have equally many parameters."

    def sentence(self) -> str:
        """The fewest parameters and the most; and what rows of equally many differ by."""
        rows = self.rows
        if not rows:
            return self.comparison.nothing
        counts = {number: self.comparison.parameters(number) for number in rows}
        few, many = min(rows, key=counts.__getitem__), max(rows, key=counts.__getitem__)
        said = []
        if counts[few] < counts[many]:
            more = units.beside(counts[many] / counts[few], "many parameters", "more parameters", "fewer parameters")
            said.append(f"Row {many} has {more} row {few}; {self._dearer(many, few)}.")
        equal = max(([row for row in rows if counts[row] == count] for count in counts.values()), key=len)
        if len(equal) > 1:
            low, high = min(equal, key=self.cost), max(equal, key=self.cost)
            same = f"{listed_rows(equal).capitalize()} have the same {formats.count(counts[low])} parameters"
            said.append(f"{same}; {self._dearer(*((high, low) if high != low else equal[:2]))}.")
        elif not said:
            unmeasured = self.comparison.report is None
            cost = units.flop_of(1e6 * self.cost(few)) if unmeasured else units.took(self.cost(few) / 1000)
            said.append(f"Row {few} has {formats.count(counts[few])} parameters; its forward pass takes {cost}.")
        return " ".join(part for part in [*said, self.comparison.under_load(FORWARD)] if part)

    def _dearer(self, this: int, other: int) -> str:
        """What one row costs beside another: time, or operations before there is a measurement."""
        if self.comparison.report is None:
            what = "floating point operations"
            factor = units.beside(self.cost(this) / self.cost(other), f"many {what}", f"more {what}", f"fewer {what}")
            return f"row {this} needs {factor} row {other}"
        paces = [Pace(self.comparison.rows[number - 1].forward) for number in (this, other)]
        return paces[0].over(paces[1]).in_words(f"row {this}", f"row {other}")

    def table(self) -> pd.DataFrame:
        """A line per row."""
        comparison = self.comparison
        lines = pd.DataFrame(
            {
                "target": [row.target for row in comparison.plan.rows],
                "d_model, heads, layers, length": [comparison.size(number) for number in comparison.numbers],
                "parameters": [comparison.parameters(number) for number in comparison.numbers],
                "MFLOP of a forward pass": [comparison.flops(number) / 1e6 for number in comparison.numbers],
                "ms of a forward pass, median": [1000 * row.forward.median for row in comparison.rows],
                "measured under load": [row.forward.under_load for row in comparison.rows],
            },
            index=pd.Index(comparison.numbers, name="row"),
        )
        return comparison.stamped(lines)

    def recipe(self) -> str:
        """A script that leaves each row's median in `medians`, in seconds."""
        return self.comparison.recipe(median_times)
