"""Memory against length: what was measured in two ways, what is predicted, and the attention weights apart."""

import math

import pandas as pd
import torch

from tfm_core.profiling import costs
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING
from tfm_ui.lenses.profiling.length.lengths import Lengths
from tfm_ui.lenses.profiling.recipes import peak_memory
from tfm_ui.text import formats, units

ALLOCATED, SYSTEM = "allocator, measured", "system, measured"


class MemoryByLength(Lengths):
    """Bytes at the peak of a call beyond weights and input."""

    @property
    def ways(self) -> tuple[str, ...]:
        """forward, and forward + backward if it is asked for."""
        return (FORWARD, TRAINING) if self.comparison.plan.setup.backward else (FORWARD,)

    def predicted(self, way: str) -> list[int]:
        """The peak at each length in closed form."""
        setup, backward = self.comparison.plan.setup, way == TRAINING
        return [costs.peak_memory(row, setup, backward=backward) for row in self.comparison.plan.rows]

    def measured(self, way: str) -> dict[str, list[float]]:
        """The peaks as the allocator counted, and as the system saw them; NaN where they could not be seen."""
        peaks = [row.memory if way == FORWARD else row.training_memory for row in self.comparison.rows]
        both = {ALLOCATED: [peak.allocated for peak in peaks], SYSTEM: [peak.system for peak in peaks]}
        return {
            name: [math.nan if count is None else float(count) for count in counts]
            for name, counts in both.items()
            if any(count is not None for count in counts)
        }

    @property
    def weights(self) -> list[int]:
        """The attention weights of all layers, heads and sequences; empty of what has none."""
        if "products" not in costs.flops(self.comparison.plan.rows[0]):
            return []
        number = getattr(torch, self.comparison.plan.setup.dtype).itemsize
        sizes = [row.size for row in self.comparison.plan.rows]
        return [number * s.num_attentions * s.batch * s.num_heads * s.seq_len**2 for s in sizes]

    def sentence(self) -> str:
        """The peak at the longest length with a figure: predicted, measured, and the attention weights among it."""
        measured = self.measured(FORWARD).get(ALLOCATED, [])
        there = [i for i, count in enumerate(measured) if count > 0]
        at = there[-1] if there else -1
        n, predicted = self.lengths[at], self.predicted(FORWARD)[at]
        said = f"{formats.count(n)} {'token' if n == 1 else 'tokens'}, forward: predicted {units.bytes_of(predicted)}"
        if there:
            said += (
                f", measured {units.bytes_of(measured[at])}, {units.times(measured[at] / predicted)} the prediction."
            )
        else:
            said += ", not measured."
        if self.weights:
            said += f" The attention weights of all layers are {units.bytes_of(self.weights[at])}"
            said += ", more than lay there at the peak." if there and self.weights[at] > measured[at] else "."
        if len(there) > 1:
            few, grown = self.lengths[there[-2]], units.times(measured[at] / measured[there[-2]])
            said += f" Going from {formats.count(few)} to {formats.count(n)} tokens took {grown} the memory."
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
        return self.comparison.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `predicted`, `allocated`, `system`."""
        return self.comparison.recipe(peak_memory)
