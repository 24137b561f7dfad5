"""What the view "block" shows of the chosen block: its steps as maps."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_ui.lenses.model.block import recipe
from tfm_ui.lenses.model.block.chain import ROUNDING
from tfm_ui.lenses.model.block.chosen import Chosen, chain
from tfm_ui.lenses.model.block.writing import about_norm, about_sub_layer, about_sum, counted
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

PARTS = {
    "all": ("x", "normalised", "normed", "output", "dropped", "total"),
    "norm": ("normalised", "normed"),
    "sub-layer": ("output", "dropped"),
    "sum": ("x", "dropped", "total"),
}  # step -> the tables that it shows, beside what the step reads


@dataclass(frozen=True)
class Steps(Chosen, Result):
    """The chosen block of the sidebar's model, step by step."""

    @cached_property
    def tables(self) -> dict[str, tuple[str, Tensor]]:
        """Step -> its name, numbered in the order of computing, and its numbers (token, dimension)."""
        numbers, pre = self.chain, self.chain.pre_norm
        norm = {
            "normalised": ("(x − mean) / √(variance + ε)" if pre else "(sum − mean) / √(variance + ε)"),
            "normed": "× gain + shift",
        }
        added = {
            "output": self.sub_layer,
            "dropped": "after dropout",
            "total": "sum: x + what is added",
        }
        ordered = {"x": "x"} | (norm | added if pre else added | norm)
        values = {
            "x": numbers.x,
            "output": numbers.output,
            "dropped": numbers.dropped,
            "total": numbers.total,
            "normalised": numbers.norm.normalised,
            "normed": numbers.norm.result,
        }
        return {step: (f"{i}. {name}", values[step]) for i, (step, name) in enumerate(ordered.items(), 1)}

    @property
    def shown(self) -> dict[str, tuple[str, Tensor]]:
        """The tables of the chosen steps: what a step reads, and what it writes."""
        pre = self.chain.pre_norm
        reads = {"norm": "x" if pre else "total", "sub-layer": "normed" if pre else "x"}.get(self.state.step)
        parts = {reads, *PARTS[self.state.step]}
        return {step: table for step, table in self.tables.items() if step in parts}

    def sentence(self) -> str:
        """What the norm, the sub-layer and the sum do to the tokens, as far as they are shown."""
        said = {
            "norm": about_norm(self.chain, self.names[: self.read]),
            "sub-layer": about_sub_layer(self.chain, self.names[: self.read], self.sub_layer, self.state.dropout),
            "sum": about_sum(self.chain, self.names[: self.read]),
        }
        order = ("norm", "sub-layer", "sum") if self.chain.pre_norm else ("sub-layer", "sum", "norm")
        parts = [said[step] for step in order if self.state.step in ("all", step)]
        return f"{self.where[0].upper()}{self.where[1:]}, {self.chain.config.norm}-norm. {' '.join(parts)}"

    def laws(self) -> dict[str, bool]:
        """The steps give what the pass recorded, and what torch's own layer norm gives."""
        plain = chain(self.model, self.state, training=False)
        recomputed = _share_off(plain.out, plain.after)
        into, norm = self.chain.into_norm, self.chain.norm
        by_torch = F.layer_norm(into, into.shape[-1:], self.chain.gain, self.chain.shift, self.chain.eps)
        theirs = _share_off(norm.result, by_torch)
        mean = float(norm.normalised.mean(-1).abs().max())
        expected = norm.variance / (norm.variance + self.chain.eps)
        variance = float((norm.normalised.var(-1, correction=0, keepdim=True) - expected).abs().max())
        return {
            "computed step by step without dropout, the block writes what the pass recorded (largest difference "
            f"{formats.tiny(recomputed)} of the largest number)": recomputed < ROUNDING,
            f"torch’s F.layer_norm gives the same as the steps (largest difference {formats.tiny(theirs)} of the "
            "largest number)": theirs < ROUNDING,
            f"before gain and shift each token has mean 0 (largest error {formats.tiny(mean)}) and variance "
            f"v / (v + ε), where v was its variance (largest error {formats.tiny(variance)})": max(mean, variance)
            < ROUNDING,
        } | self._law_of_dropout()

    def _law_of_dropout(self) -> dict[str, bool]:
        if not self.state.dropout:
            return {}
        numbers, scale = self.chain, 1 / (1 - self.state.dropout)
        kept = numbers.factors != 0
        exact = torch.where(kept, numbers.output * torch.tensor(scale), torch.tensor(0.0))
        return {
            f"dropout made {formats.count(int((~kept).sum()))} numbers 0 and multiplied all others by "
            f"{formats.number(scale)}": torch.allclose(numbers.dropped, exact)
        }

    def table(self) -> pd.DataFrame:
        """A row per token and dimension, a column per step."""
        index = pd.MultiIndex.from_product(
            [counted(self.names), range(1, self.model.d_model + 1)], names=["token", "dimension"]
        )
        return pd.DataFrame({name: values.flatten().numpy() for name, values in self.tables.values()}, index=index)

    def recipe(self) -> str:
        """A script that leaves each step by its name."""
        return script(recipe.steps, **self.header)


def steps(model: ModelState, state: ModelLensState) -> Steps:
    """The chosen block."""
    return Steps(model, state, chain(model, state))


def _share_off(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(torch.finfo(torch.float32).tiny))
