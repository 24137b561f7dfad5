"""Memory against length: what was measured in two ways, what is predicted, and the attention weights apart."""

import math
from dataclasses import dataclass

import pandas as pd
import torch

from tfm_core.profiling import Memory, costs
from tfm_ui.figures import look, units
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.asked import asked
from tfm_ui.profiling_lens.compare import FORWARD, TRAINING, Compared, recipe
from tfm_ui.profiling_lens.state import ProfilingState

ALLOCATED, SYSTEM = "allocator, measured", "system, measured"


@dataclass(frozen=True)
class Peaks:
    """Bytes at the peak of a call beyond weights and input.

    Attributes:
        of: its rows, and their measurement.
    """

    of: Compared

    @property
    def lengths(self) -> list[int]:
        """That are asked for."""
        return [row.size.seq_len for row in self.of.plan.rows]

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
        return [number * s.num_layers * s.batch * s.num_heads * s.seq_len**2 for s in sizes]

    @property
    def sentence(self) -> str:
        """Of the longest length: predicted, measured, and the weights among it."""
        way = FORWARD
        n, predicted, allocated = self.lengths[-1], self.predicted(way)[-1], self._allocated
        said = [f"{look.count(n)} {'token' if n == 1 else 'tokens'}, forward: predicted {units.bytes_of(predicted)}"]
        if math.isnan(allocated):
            said.append(", not measured.")
        else:
            off = f"{units.times(allocated / predicted)} the prediction" if predicted else "nothing was predicted"
            said.append(f", measured {units.bytes_of(allocated)}: {off}.")
        if self.weights:
            whole = self.weights[-1]
            said.append(f" The attention weights of all layers are {units.bytes_of(whole)}")
            said.append(", more than there was at the peak: never all at once." if whole > allocated else ".")
        if (grown := self.measured(way).get(ALLOCATED)) and len(grown) > 1 and grown[-2] > 0:
            times, steps = grown[-1] / grown[-2], self.lengths[-1] / self.lengths[-2]
            said.append(f" {units.times(steps)} the length took {units.times(times)} the memory.")
        return "".join(said)

    @property
    def _allocated(self) -> float:
        """At the longest length, forward; NaN if it was not measured."""
        return self.measured(FORWARD).get(ALLOCATED, [math.nan])[-1]

    def table(self) -> pd.DataFrame:
        """A row per length, in bytes."""
        columns: dict[str, list[float] | list[int]] = {}
        for way in self.ways:
            columns[f"{way}, predicted bytes"] = self.predicted(way)
            for name, counts in self.measured(way).items():
                columns[f"{way}, {name} bytes"] = counts
        if self.weights:
            columns["attention weights, bytes"] = self.weights
        return pd.DataFrame(columns, index=pd.Index(self.lengths, name="length"))

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
