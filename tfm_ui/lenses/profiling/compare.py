"""What each configuration costs: its parameters beside its time, and all of it as a table."""

from collections import defaultdict
from dataclasses import replace
from functools import cached_property, partial
from math import isnan
from typing import Any, Literal

import pandas as pd
import streamlit as st

from tfm_core.profiling import Machine, Plan, Report, Row, Setup, costs, files, profile
from tfm_ui.lenses.profiling.compare_rounds import Ratios, Times
from tfm_ui.lenses.profiling.rates import Rates
from tfm_ui.lenses.profiling.row_controls import of_rows, random_numbers
from tfm_ui.lenses.profiling.rows import FORWARD, NOTES, ProfilingPanel, listed_rows, measure, no_rows
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import NO_FILES, Files, OpenTable
from tfm_ui.text import formats, units

NAMED = 12  # rows that have a point and a name of their own
COLOURS = 8

HELP = {
    "parameters": "By formula.",
    "MFLOP": "Of a forward pass, by formula: two for each multiplication with its addition.",
    "GFLOP/s": "MFLOP over the median.",
    "estimated MiB": "By formula, of a forward pass, beyond weights and input.",
    "allocated MiB": "Measured: the allocator’s peak in a forward pass.",
    "system MiB": "Measured: what the operating system saw.",
    "contended blocks": "Timings during which other programs used the processor.",
    "measured under load": "The time is of all rounds, as too few of them ran undisturbed.",
}
KIND = ("architecture", "causal", "norm", "activation", "positions", "vocabulary", "embedding and output")  # said above
NAMES = {"blocks": "timings", "contended blocks": "disturbed timings"}  # in the command's files they stay
BARS = ("parameters", "MFLOP", "forward ms", "forward + backward ms", "GFLOP/s")


def median_times(*, rows: tuple[Row, ...], setup: Setup) -> list[float]:
    """Seconds of each row's forward pass."""
    report = measure(Plan(rows, setup))
    medians = [measured.forward.median for measured in report.measured]
    return medians


def many(factor: float, what: str) -> str:
    """How many of what one row needs beside another: 2× as many operations as."""
    return units.beside(factor, f"many {what}", f"more {what}", f"fewer {what}")


class Parameters(ProfilingPanel):
    """Each row's parameters, and its time; its operations, where no row has a time."""

    sources = (costs.parameters, costs.flops)

    @property
    def title(self) -> str:
        return f"Parameters and {'time' if self.report else 'operations'}"

    @property
    def how_to_read(self) -> str:
        axes = "both axes by powers of ten" if self.by_powers else "the parameters by powers of ten"
        return f"A point per row, {axes}; points above each other have equally many parameters."

    def cost(self, number: int) -> float:
        """Milliseconds of a row's forward pass; MFLOP, where no row has a time."""
        return 1000 * self.rows[number - 1].forward.median if self.measured else self.flops_of(number) / 1e6

    @property
    def drawn(self) -> list[int]:
        """The numbers of the rows that have a point."""
        return self.measured if self.report else list(self.numbers)

    @cached_property
    def alike(self) -> list[int]:
        """The rows of the largest group with equally many parameters; only those with a time, if any has one."""
        rows = self.measured or list(self.numbers)
        counts = {number: self.parameters_of(number) for number in rows}
        return max(([row for row in rows if counts[row] == count] for count in counts.values()), key=len)

    @property
    def by_powers(self) -> bool:
        """Whether the costs differ so much that they are shown by powers of ten."""
        costs = [self.cost(number) for number in self.drawn]
        return bool(costs) and max(costs) > 5 * min(costs)

    def ends(self, rows: list[int]) -> tuple[int, int]:
        """The cheapest and the dearest of these rows."""
        return min(rows, key=self.cost), max(rows, key=self.cost)

    def sentence(self) -> str:
        """The fewest parameters and the most; and what rows of equally many differ by."""
        rows = self.drawn
        if not rows:
            return self.nothing
        few, most = min(rows, key=self.parameters_of), max(rows, key=self.parameters_of)
        fewest, more = self.parameters_of(few), self.parameters_of(most) / self.parameters_of(few)
        sentences = []
        if more > 1:
            sentences.append(f"Row {most} has {many(more, 'parameters')} row {few}; {self._dearer(most, few)}.")
        if len(self.alike) > 1:
            low, high = self.ends(self.alike)
            count = formats.count(self.parameters_of(low))
            same = f"{listed_rows(self.alike).capitalize()} have the same {count} parameters"
            sentences.append(f"{same}; {self._dearer(*((high, low) if high != low else self.alike[:2]))}.")
        elif not sentences:
            cost = units.took(self.cost(few) / 1000) if self.report else units.flop_of(self.flops_of(few))
            sentences.append(f"Row {few} has {formats.count(fewest)} parameters; its forward pass takes {cost}.")
        return " ".join(filter(None, [*sentences, self.under_load(FORWARD)]))

    def _dearer(self, this: int, other: int) -> str:
        """What one row costs beside another: time, or operations before there is a measurement."""
        if self.report is None:
            factor = many(self.cost(this) / self.cost(other), "floating point operations")
            return f"row {this} needs {factor} row {other}"
        return self.ratio(this, other).in_words(f"row {this}", f"row {other}")

    def chart(self) -> Content:
        """A point per row; of many rows, a cloud per target."""
        rows = self.plan.rows
        targets = list(dict.fromkeys(row.target for row in rows))
        is_named = len(rows) <= NAMED
        points: dict[str, list[int]] = defaultdict(list)
        for number in self.drawn:
            points[self._point(number) if is_named else rows[number - 1].target].append(number)
        clouds = [
            Line(
                name,
                [self.parameters_of(number) for number in numbers],
                [self.cost(number) for number in numbers],
                f"head {targets.index(rows[numbers[0] - 1].target) % COLOURS + 1}",
                "dots",
                str(numbers[0]) if is_named else "",
            )
            for name, numbers in points.items()
        ]
        y = "ms of a forward pass, median" if self.report else "MFLOP of a forward pass"
        scale: Literal["linear", "log10"] = "log10" if self.by_powers else "linear"
        reach = () if self.by_powers else (0,)
        chart = Chart("parameters", y, clouds, x_scale="log10", y_scale=scale, reach=reach)
        return lines.content([chart] if clouds else [])

    def _point(self, number: int) -> str:
        return f"{self.row_name(number)}{', under load' * self.rows[number - 1].forward.under_load}"

    def table(self) -> pd.DataFrame:
        """A line per row."""
        table = pd.DataFrame(
            {
                "target": [row.target for row in self.plan.rows],
                "d_model, heads, layers, length": [self.size(number) for number in self.numbers],
                "parameters": [self.parameters_of(number) for number in self.numbers],
                "MFLOP of a forward pass": [self.flops_of(number) / 1e6 for number in self.numbers],
                "ms of a forward pass, median": [1000 * row.forward.median for row in self.rows],
                "measured under load": [row.forward.under_load for row in self.rows],
            },
            index=pd.Index(self.numbers, name="row"),
        )
        return self.stamped(table)

    def recipe(self) -> str:
        """A script that leaves each row's median in `medians`, in seconds."""
        return self.script(median_times)


class Table(Rates):
    """What each row costs: what is known without measuring, and what was measured."""

    title = "What each configuration costs"
    how_to_read = (
        "Click the head of a column to sort by it. Times are medians over the rounds; memory is "
        "counted without weights and input."
    )
    sources = (costs.parameters, costs.flops, costs.peak_memory, files.table, profile)
    canvas = None

    @property
    def shape(self) -> str:
        return self.setting

    @property
    def files(self) -> Files:
        if not self.report:
            return NO_FILES
        return {"JSON": ("every block, and where", partial(files.as_json, self.report), "application/json")}

    @property
    def open_table(self) -> OpenTable:
        """Bars where rows are to be compared at a glance, and nothing that is empty throughout."""
        table = self.table()
        hidden = {*KIND, "batch", *(files.provenance(self.report) if self.report else {})}
        hidden |= set() if any(row.size.d_ff for row in self.plan.rows) else {"d_ff"}
        hidden |= set() if self.report else {"blocks", "contended blocks", "problem"}
        return OpenTable(
            {str(name): None if name in hidden else _column(str(name), values) for name, values in table.items()}
        )

    def table(self) -> pd.DataFrame:
        """A line per row, its number in front; the same columns as the command's, and at last where they come from."""
        nowhere = Machine(device="", processor="", cores=0, system="", torch="")
        report = self.report or Report(id="", plan=self.plan, machine=nowhere)
        table = pd.DataFrame(files.table(replace(report, measured=tuple(self.rows))))
        reasons = ["; ".join(self.reasons(number)) for number in self.numbers]
        del table["problem"]
        table.insert(list(table).index("MFLOP") + 1, "problem", reasons)  # where the figures would be
        return self.stamped(table.set_index(pd.Index(self.numbers, name="row")))

    def sentence(self) -> str:
        """Parameters and operations from the least to the most, and which row comes closest to the machine's limit."""
        counts, flops = zip(*((self.parameters_of(n), self.flops_of(n)) for n in self.numbers), strict=True)
        number = units.span(formats.count(min(counts)), formats.count(max(counts)))
        rows = formats.plural(len(self.rows), "row")
        known = f"{rows}: {number} parameters, {units.flop_of(min(flops), max(flops))} for a forward pass."
        if not self.report:
            return f"{known} Press Measure for the times."
        times = [self._peak(self.report.machine), self.under_load(*self.kinds(1))]
        return " ".join(filter(None, (known, *times)))

    def _peak(self, machine: Machine) -> str:
        peak = machine.flops_per_second
        if isnan(peak) or not self.rated:
            return ""
        best = max(self.rated, key=lambda point: point.rate)
        beside = f"{self.leaders}; a large matrix product {units.three(peak / 1e9)}."
        return f"{beside} {self.why_above([best.number])}".strip() if best.rate > peak else beside

    def recipe(self) -> str:
        """A script that leaves the `report`, and each row's median in `medians`, in seconds."""
        return self.script(median_times)


def _column(name: str, values: pd.Series) -> Any:
    if values.isna().all() or (values == "").all():
        return None
    if name in BARS and (top := float(values.max())) > 0:
        form = "localized" if name == "parameters" else "%.4g"
        return st.column_config.ProgressColumn(
            name, help=HELP.get(name), min_value=0, max_value=top, format=form, width=108
        )
    if name.startswith("share"):
        return st.column_config.NumberColumn(name, format="percent")
    if values.dtype.kind in "if":
        digits = "%.4g" if values.dtype.kind == "f" else "localized"
        return st.column_config.NumberColumn(NAMES.get(name, name), format=digits, help=HELP.get(name))
    return name


VIEW = View(
    title="Configurations",
    choice="Costs",
    shows=[Parameters, *NOTES, Table, Times, Ratios],
    instead=partial(no_rows, icon=":material/edit:"),
    reads_instead=random_numbers,
    controls=partial(of_rows, more=("baseline",)),
)
