"""One configuration part by part: parameters and FLOPs in closed form, time from torch.profiler."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Measured, Row, costs
from tfm_ui.lenses.profiling.comparison import UNMEASURED, Comparison
from tfm_ui.lenses.profiling.part_names import ORDER, SEPARATE_PASSES, in_order
from tfm_ui.lenses.profiling.parts import formulas
from tfm_ui.lenses.profiling.recipes import parts_of_row
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units

UNTIMED = "positions"  # their time is within that of other parts
MOST = 8  # operators by name; the others are summed


@dataclass(frozen=True)
class Parts(Result):
    """The chosen row.

    Attributes:
        comparison: all rows, and their measurement.
    """

    comparison: Comparison

    @property
    def number(self) -> int:
        """The number of the row, from 1."""
        return self.comparison.chosen

    @property
    def row(self) -> Row:
        """What is looked at."""
        return self.comparison.plan.rows[self.number - 1]

    @property
    def measured(self) -> Measured:
        """What became of it."""
        return self.comparison.rows[self.number - 1]

    @cached_property
    def parameters(self) -> dict[str, int]:
        """Parameters by part."""
        return costs.parameters(self.row)

    @cached_property
    def flops(self) -> dict[str, int]:
        """FLOPs of a forward pass, by part."""
        return costs.flops(self.row)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds of a forward pass under the profiler, by part or by operator; empty if it was not measured.

        If there are many operators, only the longest stand alone.
        """
        seconds = {part.name: part.seconds for part in self.measured.parts}
        if len(seconds) <= len(ORDER):
            return seconds
        longest = sorted(seconds, key=lambda name: seconds[name], reverse=True)
        others = longest[MOST:]
        by_name = {name: seconds[name] for name in longest[:MOST]}
        return by_name | {f"{len(others)} others": sum(seconds[name] for name in others)}

    @property
    def by_operator(self) -> bool:
        """Whether only operators could be told apart."""
        return bool(self.seconds) and not set(self.seconds) & {*self.parameters, *self.flops}

    @property
    def names(self) -> list[str]:
        """The parts of all three pictures, in one order."""
        times = () if self.by_operator else self.seconds
        return in_order(name for part in (self.parameters, self.flops, times) for name in part)

    @property
    def timed(self) -> list[str]:
        """The names in the picture of the time."""
        return list(self.seconds) if self.by_operator else [name for name in self.names if name != UNTIMED]

    def table(self) -> pd.DataFrame:
        """A row per part."""
        names = in_order([*self.names, *self.timed])
        columns: dict[str, list[float | None]] = {
            "parameters": [self.parameters.get(name, 0) for name in names],
            "FLOPs": [self.flops.get(name, 0) for name in names],
        }
        if self.seconds:
            columns["ms"] = [1e3 * self.seconds[name] if name in self.seconds else None for name in names]
            columns["measured under load"] = [self.measured.parts_under_load] * len(names)
        return self.comparison.stamped(pd.DataFrame(columns, index=pd.Index(names, name="part")))

    def recipe(self) -> str:
        """A script that leaves `parameters`, `flops` and, measured anew, `seconds`, by part."""
        return self.comparison.recipe(parts_of_row, number=self.number - 1)


class PartParameters(Parts):
    """How many parameters each part has."""

    def sentence(self) -> str:
        """Where most of them are."""
        total, most = sum(self.parameters.values()), _largest(self.parameters)
        share = formats.percent(self.parameters[most] / total)
        return f"{formats.count(total)} parameters in all; {most}: {share} of them."

    def laws(self) -> dict[str, bool]:
        """Formulas that give these counts."""
        return formulas.laws(formulas.parameters, self.parameters, self.row.size)


class PartFlops(Parts):
    """How many operations each part does in a forward pass."""

    def sentence(self) -> str:
        """Where most of them are; softmax and norms have none by convention."""
        total, most = sum(self.flops.values()), _largest(self.flops)
        share = formats.percent(self.flops[most] / total)
        return (
            f"{formats.count(total)} operations in a forward pass, two for each multiplication with its addition; "
            f"{most}: "
            f"{share} of them. Softmax, norms and activations count 0."
        )

    def laws(self) -> dict[str, bool]:
        """Formulas that give these counts."""
        return formulas.laws(formulas.flops, self.flops, self.row.size)


class PartTimes(Parts):
    """How long each part takes in a forward pass."""

    def sentence(self) -> str:
        """Which takes most, and where time and FLOPs disagree; whose passes they are, where calls have no time."""
        if not self.seconds:
            return self._unmeasured
        reason = self.comparison.reason(self.number)
        separate = f"{SEPARATE_PASSES}; no time of a forward call is shown: {reason}." if reason else ""
        load = "Measured under load." if self.measured.parts_under_load else ""
        return " ".join(part for part in (self._share, separate, load) if part)

    @property
    def _share(self) -> str:
        total, most = sum(self.seconds.values()), _largest(self.seconds)
        said = f"{units.took(total)} under the profiler{self._slowed(total)}; {most}: "
        said += f"{formats.percent(self.seconds[most] / total)} of it."
        if self.by_operator:
            return f"{said} Only operators can be told apart here: they have torch’s names."
        free = [name for name in in_order(self.seconds) if not self.flops.get(name) and name in ("softmax", "norms")]
        if free and (time := sum(self.seconds[name] for name in free)):
            verb = "does" if len(free) == 1 else "do"
            take = "takes" if len(free) == 1 else "take"
            words = formats.listed(free).capitalize()
            said += f" {words} {verb} 0% of the FLOPs and {take} {formats.percent(time / total)} of the time."
        heaviest = _largest(self.flops)
        if heaviest != most and heaviest in self.seconds:
            said += (
                f" Most FLOPs are in the {heaviest}: "
                f"{formats.percent(self.flops[heaviest] / sum(self.flops.values()))} "
                f"of them, in {formats.percent(self.seconds[heaviest] / total)} of the time."
            )
        return said + self._fused

    def _slowed(self, total: float) -> str:
        """The factor by which watching slows a pass, where passes were timed that nothing watched."""
        alone = self.measured.forward.median
        if math.isnan(alone):
            return ""
        return f", {units.beside(total / alone, 'long', 'longer', 'shorter')} a pass without it ({units.took(alone)})"

    @property
    def _fused(self) -> str:
        """A sentence that follows where one operator does more than one part."""
        if not self.measured.kernel or "softmax" in self.seconds:
            return ""
        return f" The fused kernel ({self.measured.kernel}) does the softmax too: it is in the products."

    @property
    def _unmeasured(self) -> str:
        if not self.comparison.report:
            return UNMEASURED
        reason = self.comparison.reason(self.number) or "its time was measured, but not by part"
        return f"Row {self.number}: {reason}."


def _largest(values: Mapping[str, float]) -> str:
    return max(values, key=lambda name: values[name])


def which_row(comparison: Comparison) -> str:
    """Which row was chosen: with weights, d_model 64, 4 heads, 2 layers, 50 tokens, batch 16."""
    number, rows = comparison.chosen, comparison.plan.rows
    row, size = rows[number - 1], rows[number - 1].size
    heads, layers = formats.plural(size.num_heads, "head"), formats.plural(size.num_layers, "layer")
    tokens = formats.plural(size.seq_len, "token")
    words = f"{row.target}, d_model {size.d_model}, {heads}, {layers}, {tokens}, batch {size.batch}"
    return f"Row {number} of {len(rows)} under “Configurations”: {words}."
