"""One configuration part by part: parameters and FLOPs in closed form, time from torch.profiler."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Measured, Row, costs
from tfm_ui.lenses.profiling.asked import UNMEASURED, asked, described
from tfm_ui.lenses.profiling.compare.numbers import Compared, recipe
from tfm_ui.lenses.profiling.parts import formulas as parts_formulas
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, units

ORDER = (
    "embedding", "positions", "projections", "products", "softmax", "feed-forward", "norms", "recurrence",
    "convolution", "output", "logits", "rest",
)  # fmt: skip
OWN = "torch.profiler timed passes of its own"  # said where no time of a call is shown
UNTIMED = "positions"  # their time is within that of other parts
MOST = 8  # operators by name; the others are summed


def in_order(names: Iterable[str]) -> list[str]:
    """Each once: parts in the order of a pass, then operators as they came."""
    found = dict.fromkeys(names)
    return [name for name in ORDER if name in found] + [name for name in found if name not in ORDER]


@dataclass(frozen=True)
class Parts:
    """A row that was chosen.

    Attributes:
        of: all rows, and their measurement.
        number: of the row, from 0.
    """

    of: Compared
    number: int

    @property
    def row(self) -> Row:
        """What is looked at."""
        return self.of.plan.rows[self.number]

    @property
    def measured(self) -> Measured:
        """What became of it."""
        return self.of.rows[self.number]

    @cached_property
    def parameters(self) -> dict[str, int]:
        """By part."""
        return costs.parameters(self.row)

    @cached_property
    def flops(self) -> dict[str, int]:
        """Of a forward pass, by part."""
        return costs.flops(self.row)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Of a forward pass under the profiler, by part or by operator; empty if it was not measured.

        Of many operators the longest stand alone.
        """
        found = {part.name: part.seconds for part in self.measured.parts}
        if len(found) <= len(ORDER):
            return found
        longest = sorted(found, key=lambda name: found[name], reverse=True)
        others = longest[MOST:]
        kept = {name: found[name] for name in longest[:MOST]}
        return kept | {f"{len(others)} others": sum(found[name] for name in others)}

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

    @property
    def about_parameters(self) -> str:
        """Where most of them are."""
        total, most = sum(self.parameters.values()), _largest(self.parameters)
        share = look.percent(self.parameters[most] / total)
        return f"{look.count(total)} parameters in all; {most}: {share} of them."

    @property
    def about_flops(self) -> str:
        """Where most of them are; softmax and norms have none by convention."""
        total, most = sum(self.flops.values()), _largest(self.flops)
        share = look.percent(self.flops[most] / total)
        return (
            f"{look.count(total)} operations in a forward pass, two for each multiplication with its addition; {most}: "
            f"{share} of them. Softmax, norms and activations count 0."
        )

    @property
    def about_time(self) -> str:
        """Which takes most, and where time and FLOPs disagree; whose passes they are, where calls have no time."""
        if not self.seconds:
            return self._unmeasured
        reason = self.of.reason(self.number + 1)
        own = f"{OWN}; no time of a forward call is shown: {reason}." if reason else ""
        load = "Measured under load." if self.measured.parts_under_load else ""
        return " ".join(part for part in (self._share, own, load) if part)

    @property
    def _share(self) -> str:
        total, most = sum(self.seconds.values()), _largest(self.seconds)
        said = f"{units.took(total)} under the profiler; {most}: {look.percent(self.seconds[most] / total)} of it."
        if self.by_operator:
            return f"{said} Only operators can be told apart here: they bear torch’s names."
        free = [name for name in in_order(self.seconds) if not self.flops.get(name) and name in ("softmax", "norms")]
        if free and (time := sum(self.seconds[name] for name in free)):
            verb = "does" if len(free) == 1 else "do"
            take = "takes" if len(free) == 1 else "take"
            words = look.listed(free).capitalize()
            said += f" {words} {verb} 0% of the FLOPs and {take} {look.percent(time / total)} of the time."
        heaviest = _largest(self.flops)
        if heaviest != most and heaviest in self.seconds:
            said += (
                f" Most FLOPs are in the {heaviest}: {look.percent(self.flops[heaviest] / sum(self.flops.values()))} "
                f"of them, in {look.percent(self.seconds[heaviest] / total)} of the time."
            )
        return said + self._fused

    @property
    def _fused(self) -> str:
        """Said where one operator does more than one part."""
        if not self.measured.kernel or "softmax" in self.seconds:
            return ""
        return f" The fused kernel ({self.measured.kernel}) does the softmax too: it is in the products."

    @property
    def _unmeasured(self) -> str:
        if not self.of.report:
            return UNMEASURED
        reason = self.of.reason(self.number + 1) or "its time was measured, but not by part"
        return f"Row {self.number + 1}: {reason}."

    @property
    def title(self) -> str:
        """Which row this is."""
        return f"Row {self.number + 1} of {len(self.of.plan.rows)} in the view “compare”: {described(self.row)}."

    @property
    def parameter_laws(self) -> dict[str, bool]:
        """Formulas that give these counts."""
        return parts_formulas.laws(parts_formulas.parameters, self.parameters, self.row.size)

    @property
    def flop_laws(self) -> dict[str, bool]:
        """Likewise."""
        return parts_formulas.laws(parts_formulas.flops, self.flops, self.row.size)

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
        return self.of.stamped(pd.DataFrame(columns, index=pd.Index(names, name="part")))

    @property
    def recipe(self) -> str:
        """Lines of Python that leave `parameters`, `flops` and, measured anew, `seconds`, by part."""
        return recipe(
            self.of.plan,
            "",
            "from tfm_core.profiling import costs",
            f"row = rows[{self.number}]",
            "parameters, flops = costs.parameters(row), costs.flops(row)",
            f"seconds = {{part.name: part.seconds for part in report.measured[{self.number}].parts}}",
        )


def _largest(values: Mapping[str, float]) -> str:
    return max(values, key=lambda name: values[name])


def parts(model: ModelState, state: ProfilingState) -> Parts | None:
    """What the view "parts" shows: the chosen row, or the last where there are fewer; None if there are none."""
    found = asked(model, state, "parts")
    return Parts(found, min(state.row, len(found.rows)) - 1) if found else None
