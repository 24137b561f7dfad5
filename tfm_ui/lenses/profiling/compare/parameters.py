"""Parameters beside time: what the count of parameters tells of the cost, and what it does not."""

from collections import defaultdict

import pandas as pd

from tfm_ui.lenses.profiling import analytic
from tfm_ui.lenses.profiling.beside import Pace, beside
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, Compared, listed_rows
from tfm_ui.text import look, units


def height(seen: Compared, number: int) -> float:
    """Milliseconds of a row's forward pass, counted from 1; before there is a measurement, MFLOP."""
    if seen.report is None:
        return analytic.forward_flops(seen.plan.rows[number - 1]) / 1e6
    return 1000 * seen.rows[number - 1].forward.median


def shown(seen: Compared) -> list[int]:
    """The numbers of the rows that have a point."""
    return list(range(1, len(seen.rows) + 1)) if seen.report is None else seen.measured


def by_powers(seen: Compared) -> bool:
    """Whether the costs differ so much that they are shown by powers of ten."""
    costs = [height(seen, number) for number in shown(seen)]
    return bool(costs) and max(costs) > 5 * min(costs)


def how_to_read(seen: Compared) -> str:
    """One line on the axes."""
    axes = "both axes by powers of ten" if by_powers(seen) else "the parameters by powers of ten"
    return f"A point per row, {axes}; points above each other have equally many parameters."


def sentence(seen: Compared) -> str:
    """From the fewest parameters to the most; and what rows of equally many differ by."""
    there = shown(seen)
    if not there:
        return seen.nothing
    of = {number: analytic.parameters(seen.plan.rows[number - 1]) for number in there}
    few, many = min(there, key=of.__getitem__), max(there, key=of.__getitem__)
    said = []
    if of[few] < of[many]:
        more = units.beside(of[many] / of[few], "many parameters", "more parameters", "fewer parameters")
        said.append(f"Row {many} has {more} row {few}; {_dearer(seen, many, few)}.")
    equal = max(_equal(of).values(), key=len)
    if len(equal) > 1:
        low, high = min(equal, key=lambda n: height(seen, n)), max(equal, key=lambda n: height(seen, n))
        same = f"{listed_rows(equal).capitalize()} have the same {look.count(of[low])} parameters"
        said.append(f"{same}; {_dearer(seen, *((high, low) if high != low else equal[:2]))}.")
    elif not said:
        of_row = f"{look.count(of[few])} parameters"
        own = height(seen, few)
        cost = f"{units.three(own)} MFLOP" if seen.report is None else units.took(own / 1000)
        said.append(f"Row {few} has {of_row}; its forward pass takes {cost}.")
    return " ".join(part for part in [*said, seen.under_load(FORWARD)] if part)


def _dearer(seen: Compared, this: int, other: int) -> str:
    """What one row costs beside another: time, or operations before there is a measurement."""
    if seen.report is None:
        factor = height(seen, this) / height(seen, other)
        what = "floating point operations"
        return f"row {this} needs {units.beside(factor, f'many {what}', f'more {what}', f'fewer {what}')} row {other}"
    forward = [Pace(seen.rows[number - 1].forward) for number in (this, other)]
    return beside(*forward).of(f"row {this}", f"row {other}")


def _equal(parameters: dict[int, int]) -> dict[int, list[int]]:
    alike: dict[int, list[int]] = defaultdict(list)
    for number, count in parameters.items():
        alike[count].append(number)
    return alike


def table(seen: Compared) -> pd.DataFrame:
    """A line per row."""
    numbers = range(1, len(seen.rows) + 1)
    found = pd.DataFrame(
        {
            "target": [row.target for row in seen.plan.rows],
            "d_model, heads, layers, length": [seen.size(number) for number in numbers],
            "parameters": [analytic.parameters(row) for row in seen.plan.rows],
            "MFLOP of a forward pass": [analytic.forward_flops(row) / 1e6 for row in seen.plan.rows],
            "ms of a forward pass, median": [1000 * one.forward.median for one in seen.rows],
            "measured under load": [one.forward.under_load for one in seen.rows],
        },
        index=pd.Index(numbers, name="row"),
    )
    return seen.stamped(found)
