"""The chosen block step by step: its numbers as maps, and each token's mean and variance around its norm."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_ui.lenses.model.block.chain import (
    ROUNDING,
    BlockMaps,
    BlockPanel,
    added,
    dropout_factors,
    layer_norm,
    range_of,
    rms_norm,
    run,
)
from tfm_ui.lenses.model.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.page import controls
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.maps import MASKED
from tfm_ui.pictures.panel import Source
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

EVEN = 0.999  # a variance of at least this much is called 1
PARTS = {
    "all": ("x", "normalised", "normed", "output", "dropped", "total"),
    "norm": ("normalised", "normed"),
    "sub-layer": ("output", "dropped"),
    "sum": ("x", "dropped", "total"),
}  # step -> the tables that it shows, beside what the step reads


def steps(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, ...]:
    """All steps of a block, (token, dimension); mean and variance (token, 1)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    dropped, total, into_norm = added(x, output, dropout_factors(output, dropout, draw), config.norm)
    mean, variance, normalised, normed = layer_norm(into_norm, modules.get_submodule(f"{block}_norm"))
    return x, output, dropped, total, mean, variance, normalised, normed


def moments(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of each token before and after the norm, (token, 2)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    _, _, into_norm = added(x, output, dropout_factors(output, dropout, draw), config.norm)
    mean, variance, _, normed = layer_norm(into_norm, modules.get_submodule(f"{block}_norm"))
    before, after = around_norm(mean, variance, normed)
    return before, after


def steps_of_rms(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, ...]:
    """All steps of a block with an RMS norm, (token, dimension); the mean square (token, 1)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    dropped, total, into_norm = added(x, output, dropout_factors(output, dropout, draw), config.norm)
    mean_square, normalised, normed = rms_norm(into_norm, modules.get_submodule(f"{block}_norm"))
    return x, output, dropped, total, mean_square, normalised, normed


def moments_of_rms(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, Tensor]:
    """The mean and the mean square of each token before and after an RMS norm, (token, 2)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    _, _, into_norm = added(x, output, dropout_factors(output, dropout, draw), config.norm)
    mean_square, _, normed = rms_norm(into_norm, modules.get_submodule(f"{block}_norm"))
    before, after = around_rms_norm(into_norm.mean(-1, keepdim=True), mean_square, normed)
    return before, after


def around_rms_norm(mean: Tensor, mean_square: Tensor, normed: Tensor) -> tuple[Tensor, Tensor]:
    """The mean and the mean square of each token, (token, 2), before the norm and after it."""
    return torch.cat([mean, mean_square], -1), torch.stack([normed.mean(-1), normed.square().mean(-1)], -1)


def around_norm(mean: Tensor, variance: Tensor, normed: Tensor) -> tuple[Tensor, Tensor]:
    """The mean and the variance of each token, (token, 2), before the norm and after it."""
    return torch.cat([mean, variance], -1), torch.stack([normed.mean(-1), normed.var(-1, correction=0)], -1)


class Block(BlockMaps):
    """The chosen block of the sidebar's model, step by step."""

    @property
    def title(self) -> str:
        return f"One block: {'norm, sub-layer, sum' if self.pre_norm else 'sub-layer, sum, norm'}"

    @property
    def how_to_read(self) -> str:
        random = " Weights are random: the arithmetic is that of a trained model, the values are not."
        return "A row is one token’s vector. Click a cell: below, its number is derived." + self.model.if_random(random)

    @cached_property
    def steps(self) -> dict[str, tuple[str, Tensor]]:
        """Step -> its name, numbered in the order of computing, and its numbers (token, dimension)."""
        read = "x" if self.pre_norm else "sum"
        divided = f"{read} / √(mean square + ε)" if self.is_rms else f"({read} − mean) / √(variance + ε)"
        norm = {
            "normalised": (divided, self.norm.normalised),
            "normed": ("× gain" if self.is_rms else "× gain + shift", self.norm.result),
        }
        sub_layer = {
            "output": (self.called, self.output),
            "dropped": ("after dropout", self.dropped),
            "total": ("sum: x + what is added", self.total),
        }
        ordered = {"x": ("x", self.x)} | (norm | sub_layer if self.pre_norm else sub_layer | norm)
        return {step: (f"{i}. {name}", values) for i, (step, (name, values)) in enumerate(ordered.items(), 1)}

    @property
    def tables(self) -> dict[str, Tensor]:
        """The numbers of each step, by its name."""
        return dict(self.steps.values())

    @property
    def drawn(self) -> dict[str, Tensor]:
        """The tables of the chosen steps, what a step reads and what it writes; what is dropped is blank."""
        reads = {"norm": "x" if self.pre_norm else "total", "sub-layer": "normed" if self.pre_norm else "x"}
        parts = {reads.get(self.state.step), *PARTS[self.state.step]}
        drawn = {step: table for step, table in self.steps.items() if step in parts}
        if "dropped" in drawn:
            name, numbers = drawn["dropped"]
            drawn["dropped"] = name, numbers.masked_fill(self.factors == 0, float(MASKED))
        return dict(drawn.values())

    def sentence(self) -> str:
        """What the norm, the sub-layer and the sum do to the tokens, as far as they are shown."""
        about = {"norm": self._about_norm, "sub-layer": self._about_sub_layer, "sum": self._about_sum}
        order = ("norm", "sub-layer", "sum") if self.pre_norm else ("sub-layer", "sum", "norm")
        parts = [about[step]() for step in order if self.state.step in ("all", step)]
        return f"{self.where[0].upper()}{self.where[1:]}, {self.config.norm}-norm. {' '.join(parts)}"

    def _about_norm(self) -> str:
        """What the norm reads, what it leaves, and whether gain and shift do anything."""
        before = self.norm.spread[: self.read, 0].numpy()
        after = before / (before + self.epsilon)
        reads = "x" if self.pre_norm else "the sum"
        low, high = float(after.min()), float(after.max())
        if self.is_rms:
            return self._about_rms_norm(before, reads, low, high)
        variance = "variance 1" if low >= EVEN else f"a variance from {formats.number(low)} to {formats.number(high)}"
        if self.read == 1:
            mean = formats.number(self.norm.mean[0].item())
            return (
                f"Before the norm, in {reads} the numbers of “{self.names[0]}” have mean {mean} and variance "
                f"{formats.number(float(before[0]))}; the norm makes that mean 0 and "
                f"{variance if low >= EVEN else f'variance {formats.number(low)}'}. {self._about_gain()}"
            )
        spread = f"in {reads}, the variances run from {self._from_to(before)}"
        return f"The norm gives each token’s numbers mean 0 and {variance}; before it, {spread}. {self._about_gain()}"

    def _about_rms_norm(self, before: NDArray[np.float32], reads: str, low: float, high: float) -> str:
        """The same of an RMS norm, of the mean squares of its tokens."""
        ends = [formats.number(low), formats.number(high)]
        becomes = "1" if low >= EVEN else ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
        if self.read == 1:
            square = formats.number(float(before[0]))
            return (
                f"The norm divides the numbers of “{self.names[0]}” by the root of their mean square, {square} in "
                f"{reads}, so that it becomes {becomes}; no mean is taken away. {self._about_gain()}"
            )
        return (
            "The norm divides each token’s numbers by the root of their mean square, so that it becomes "
            f"{becomes}; no mean is taken away. Before it, in {reads}, the mean squares run from "
            f"{self._from_to(before)}. {self._about_gain()}"
        )

    def _from_to(self, values: NDArray[np.float32]) -> str:
        """The least and the largest of some numbers, (token), with their tokens."""
        most, least = places_of_largest(values), places_of_largest(-values)
        return (
            f"{formats.number(float(values[least[0]]))} "
            f"(“{self.names[least[0]]}”{one_of_ties(len(least))}) to {formats.number(float(values[most[0]]))} "
            f"(“{self.names[most[0]]}”{one_of_ties(len(most))})"
        )

    def _about_gain(self) -> str:
        gain, shift = self.gain, self.shift
        if self.is_rms:
            if bool((gain == 1).all()):
                return "Gain is 1 in every dimension, as before any training, so × gain changes nothing."
            low, high = (formats.number(float(end)) for end in gain.aminmax())
            return f"The gain runs from {low} to {high}; no shift is added."
        if bool((gain == 1).all()) and not bool(shift.any()):
            return (
                "Gain is 1 and shift 0 in every dimension, as before any training, so × gain + shift changes nothing."
            )
        ends = (formats.number(float(end)) for ends in (gain.aminmax(), shift.aminmax()) for end in ends)
        gain_low, gain_high, shift_low, shift_high = ends
        return f"The gain runs from {gain_low} to {gain_high}, the shift from {shift_low} to {shift_high}."

    def _about_sub_layer(self) -> str:
        """How long the vectors are that the sub-layer writes, beside x; and what dropout does to them."""
        shares = self.shares_of(self.output)
        most = places_of_largest(shares)
        mean = formats.percent(float(shares.mean()))
        if self.read == 1:
            long = f"The vector that the {self.called} writes for “{self.names[0]}” has {mean} of the length of x."
        else:
            long = (
                f"The vectors that the {self.called} writes have {mean} of the length of x on average, and most at "
                f"“{self.names[most[0]]}”{one_of_ties(len(most))}: {formats.percent(float(shares[most[0]]))}."
            )
        return f"{long} {self._about_dropout()}"

    def _about_dropout(self) -> str:
        dropout = self.state.dropout
        if not dropout:
            return "In evaluation mode dropout does nothing."
        gone, every = int((self.factors == 0).sum()), self.factors.numel()
        return (
            f"Dropout of {dropout:g}, as in training mode, makes {formats.count(gone)} of these {formats.count(every)} "
            f"numbers 0 in this draw ({formats.percent(gone / every)}) and multiplies all others by 1 / (1 − "
            f"{dropout:g}) = {formats.number(1 / (1 - dropout))}; what flows in was computed without dropout."
        )

    def _about_sum(self) -> str:
        """How the sum changes the lengths of the vectors."""
        before, after = self.lengths_of(self.x), self.lengths_of(self.total)
        size = float(max(before.max(), after.max()))
        most = places_of_largest(np.abs(after - before), size=size)
        at = most[0]
        ends = f"{formats.number(float(before[at]))} to {formats.number(float(after[at]))}"
        if self.read == 1:
            return f"The sum takes the length of “{self.names[0]}” from {ends}."
        return (
            f"The sum makes {int((after > before).sum())} of {self.read} vectors longer; the length of "
            f"“{self.names[at]}”{one_of_ties(len(most))} changes most, from {ends}."
        )

    def laws(self) -> dict[str, bool]:
        """The steps give what the pass recorded, and what torch's own norm gives."""
        plain = Block(self.model, replace(self.state, dropout=0.0))
        recomputed = _share_off(plain.out, plain.after)
        into, norm, eps = self.into_norm, self.norm, self.epsilon
        steps = {
            "computed step by step without dropout, the block writes what the pass recorded (largest difference "
            f"{formats.tiny(recomputed)} of the largest number)": recomputed < ROUNDING
        }
        if self.is_rms:
            return steps | self._laws_of_rms() | self._law_of_dropout()
        theirs = _share_off(norm.result, F.layer_norm(into, into.shape[-1:], self.gain, self.shift, eps))
        mean = float(norm.normalised.mean(-1).abs().max())
        expected = norm.spread / (norm.spread + eps)
        variance = float((norm.normalised.var(-1, correction=0, keepdim=True) - expected).abs().max())
        theirs_and_moments = {
            f"torch’s F.layer_norm gives the same as the steps (largest difference {formats.tiny(theirs)} of the "
            "largest number)": theirs < ROUNDING,
            f"before gain and shift each token has mean 0 (largest error {formats.tiny(mean)}) and variance "
            f"v / (v + ε), where v was its variance (largest error {formats.tiny(variance)})": max(mean, variance)
            < ROUNDING,
        }
        return steps | theirs_and_moments | self._law_of_dropout()

    def _laws_of_rms(self) -> dict[str, bool]:
        into, norm, eps = self.into_norm, self.norm, self.epsilon
        theirs = _share_off(norm.result, F.rms_norm(into, into.shape[-1:], self.gain, eps))
        expected = norm.spread / (norm.spread + eps)
        square = float((norm.normalised.square().mean(-1, keepdim=True) - expected).abs().max())
        return {
            f"torch’s F.rms_norm gives the same as the steps (largest difference {formats.tiny(theirs)} of the "
            "largest number)": theirs < ROUNDING,
            "before the gain each token has the mean square m / (m + ε), where m was its mean square (largest error "
            f"{formats.tiny(square)})": square < ROUNDING,
        }

    def _law_of_dropout(self) -> dict[str, bool]:
        if not self.state.dropout:
            return {}
        kept, scale = self.factors != 0, 1 / (1 - self.state.dropout)
        exact = torch.where(kept, self.output * torch.tensor(scale), torch.tensor(0.0))
        return {
            f"dropout made {formats.count(int((~kept).sum()))} numbers 0 and multiplied all others by "
            f"{formats.number(scale)}": torch.allclose(self.dropped, exact)
        }

    def tools(self) -> None:
        """Draw the button for another draw of the dropout."""
        if self.state.dropout:
            st.button(
                f"Draw again (draw {self.state.dropout_draw})",
                icon=":material/casino:",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"dropout_draw": self.state.dropout_draw % 9999 + 1},
                key="_model_block_draw",
            )

    def recipe(self) -> str:
        """A script that leaves each step by its name."""
        return script(steps_of_rms if self.is_rms else steps, **self.header)


class BlockMoments(BlockPanel):
    """The mean and the variance of each token's numbers, or in RMS norms the mean square, before and after the norm."""

    canvas = CHART

    @property
    def title(self) -> str:
        return f"Mean and {self.spread_called}"

    @property
    def how_to_read(self) -> str:
        return f"Of the numbers of each token’s vector, before the norm and after {self.gain_called}."

    @property
    def sources(self) -> Sequence[Source]:
        return (self.norm_function, self.norm_program)

    @cached_property
    def columns(self) -> dict[str, NDArray[np.float32]]:
        """Name -> a number per token, without padding."""
        around = around_rms_norm if self.is_rms else around_norm
        before, after = around(self.norm.mean, self.norm.spread, self.norm.result)
        return {
            f"{what} {when} the norm": values[: self.read, i].numpy()
            for when, values in (("before", before), ("after", after))
            for i, what in enumerate(("mean", self.spread_called))
        }

    def sentence(self) -> str:
        """The ranges of mean and variance before and after the norm."""
        ranges = {name: range_of(values) for name, values in self.columns.items()}
        single = self.read == 1
        called = self.spread_called
        mean, spread, are = ("mean", called, "is") if single else ("means", f"{called}s", "are")
        before, after = (
            f"the {mean} of the {'token' if single else 'tokens'} {are} {ranges[f'mean {when} the norm']} and the "
            f"{spread} {ranges[f'{called} {when} the norm']}"
            for when in ("before", "after")
        )
        return f"Before the norm {before}; after the norm, with {self.gain_called}, {after}."

    def laws(self) -> dict[str, bool]:
        """Mean and variance, or mean square, are those of NumPy, in float64."""
        values = self.into_norm[: self.read].double().numpy()
        size, called = float(np.abs(values).max()) or 1.0, self.spread_called
        spreads = (values**2).mean(-1) if self.is_rms else values.var(-1)
        mean = float(np.abs(values.mean(-1) - self.columns["mean before the norm"]).max()) / size
        spread = float(np.abs(spreads - self.columns[f"{called} before the norm"]).max()) / size**2
        return {
            f"mean and {called} are NumPy’s, computed in float64 (largest differences "
            f"{formats.tiny(mean)} and {formats.tiny(spread)}, beside the largest number and its square)": max(
                mean, spread
            )
            < ROUNDING
        }

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return self.by_token(self.columns)

    def picture(self) -> Content:
        """Mean and variance of each token, before and after the norm."""
        ends = {
            what: (self.columns[f"{what} before the norm"], self.columns[f"{what} after the norm"])
            for what in ("mean", self.spread_called)
        }
        return self.before_and_after("norm", ends, reach=(0,))

    def recipe(self) -> str:
        """A script that leaves `before` and `after`, mean and variance of each token."""
        return script(moments_of_rms if self.is_rms else moments, **self.header)


def _share_off(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(torch.finfo(torch.float32).tiny))
