"""Memory against length: what was measured in two ways, what is predicted, and the attention weights apart."""

import math

import pandas as pd
import torch

from tfm_core.profiling import Memory, costs
from tfm_ui.lenses.profiling.asked import Lengths, asked
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, TRAINING, recipe
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, units

ALLOCATED, SYSTEM = "allocator, measured", "system, measured"


class Peaks(Lengths):
    """Bytes at the peak of a call beyond weights and input."""

    @property
    def ways(self) -> tuple[str, ...]:
        """forward, and forward + backward if it is asked for."""
        return (FORWARD, TRAINING) if self.of.plan.setup.backward else (FORWARD,)

    def predicted(self, way: str) -> list[int]:
        """In closed form."""
        setup, backward = self.of.plan.setup, way == TRAINING
        return [costs.peak_memory(row, setup, backward=backward) for row in self.of.plan.rows]

    def measured(self, way: str) -> dict[str, list[float]]:
        """As the allocator counted, and as the system saw it; NaN where it could not be seen."""
        found: list[Memory] = [one.memory if way == FORWARD else one.training_memory for one in self.of.rows]
        both = {ALLOCATED: [one.allocated for one in found], SYSTEM: [one.system for one in found]}
        return {
            name: [math.nan if count is None else float(count) for count in counts]
            for name, counts in both.items()
            if any(count is not None for count in counts)
        }

    @property
    def weights(self) -> list[int]:
        """The attention weights of all layers, heads and sequences; empty of what has none."""
        if "products" not in costs.flops(self.of.plan.rows[0]):
            return []
        number = getattr(torch, self.of.plan.setup.dtype).itemsize
        sizes = [row.size for row in self.of.plan.rows]
        return [number * s.num_attentions * s.batch * s.num_heads * s.seq_len**2 for s in sizes]

    @property
    def sentence(self) -> str:
        """Of the longest length that has a figure: predicted, measured, and the attention weights among it."""
        found = self.measured(FORWARD).get(ALLOCATED, [])
        there = [i for i, count in enumerate(found) if count > 0]
        at = there[-1] if there else -1
        n, predicted = self.lengths[at], self.predicted(FORWARD)[at]
        said = f"{look.count(n)} {'token' if n == 1 else 'tokens'}, forward: predicted {units.bytes_of(predicted)}"
        if there:
            said += f", measured {units.bytes_of(found[at])}, {units.times(found[at] / predicted)} the prediction."
        else:
            said += ", not measured."
        if self.weights:
            said += f" The attention weights of all layers are {units.bytes_of(self.weights[at])}"
            said += ", more than lay there at the peak." if there and self.weights[at] > found[at] else "."
        if len(there) > 1:
            steps, grown = (values[at] / values[there[-2]] for values in (self.lengths, found))
            said += f" The last {units.times(steps)} of the length took {units.times(grown)} the memory."
        return said

    def table(self) -> pd.DataFrame:
        """A row per length, in bytes."""
        columns: dict[str, list[float] | list[int]] = {}
        for way in self.ways:
            columns[f"{way}, predicted bytes"] = self.predicted(way)
            for name, counts in self.measured(way).items():
                columns[f"{way}, {name} bytes"] = counts
        if self.weights:
            columns["attention weights, bytes"] = self.weights
        return self.of.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    @property
    def recipe(self) -> str:
        """Lines of Python that leave `predicted`, `allocated`, `system`."""
        return recipe(
            self.of.plan,
            "",
            "from tfm_core.profiling import costs",
            f"setup = {self.of.plan.setup!r}",
            "predicted = [costs.peak_memory(row, setup) for row in rows]  # bytes",
            "allocated = [one.memory.allocated for one in report.measured]",
            "system = [one.memory.system for one in report.measured]",
        )


def peaks(model: ModelState, state: ProfilingState) -> Peaks | None:
    """What the view "length" shows of memory; None if no length is within the budget."""
    found = asked(model, state, "length")
    return Peaks(found) if found else None
