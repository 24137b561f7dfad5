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
from torch import Tensor, nn

from tfm_core import NORMS, TransformerConfig, TransformerLayer
from tfm_core.model.initialization import fill_parameters
from tfm_ui.lenses.model.block.chain import (
    ROUNDING,
    BlockMaps,
    BlockPanel,
    added,
    dropout_factors,
    layer_norm,
    range_of,
    run,
)
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.lenses.model.state import PREFIX
from tfm_ui.live.passes import transformer
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
        norm = {
            "normalised": (f"({read} − mean) / √(variance + ε)", self.norm.normalised),
            "normed": ("× gain + shift", self.norm.result),
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
        before = self.norm.variance[: self.read, 0].numpy()
        after = before / (before + self.norm_module.eps)
        reads = "x" if self.pre_norm else "the sum"
        low, high = float(after.min()), float(after.max())
        variance = "variance 1" if low >= EVEN else f"a variance from {formats.number(low)} to {formats.number(high)}"
        if self.read == 1:
            mean = formats.number(self.norm.mean[0].item())
            return (
                f"Before the norm, in {reads} the numbers of “{self.names[0]}” have mean {mean} and variance "
                f"{formats.number(float(before[0]))}; the norm makes that mean 0 and "
                f"{variance if low >= EVEN else f'variance {formats.number(low)}'}. {self._about_gain()}"
            )
        most, least = places_of_largest(before), places_of_largest(-before)
        spread = (
            f"in {reads}, the variances run from {formats.number(float(before[least[0]]))} "
            f"(“{self.names[least[0]]}”{one_of_ties(len(least))}) to {formats.number(float(before[most[0]]))} "
            f"(“{self.names[most[0]]}”{one_of_ties(len(most))})"
        )
        return f"The norm gives each token’s numbers mean 0 and {variance}; before it, {spread}. {self._about_gain()}"

    def _about_gain(self) -> str:
        gain, shift = self.gain, self.shift
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
        """The steps give what the pass recorded, and what torch's own layer norm gives."""
        plain = Block(self.model, replace(self.state, dropout=0.0))
        recomputed = _share_off(plain.out, plain.after)
        into, norm, eps = self.into_norm, self.norm, self.norm_module.eps
        theirs = _share_off(norm.result, F.layer_norm(into, into.shape[-1:], self.gain, self.shift, eps))
        mean = float(norm.normalised.mean(-1).abs().max())
        expected = norm.variance / (norm.variance + eps)
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
        return script(steps, **self.header)


class BlockMoments(BlockPanel):
    """The mean and the variance of each token's numbers, before and after the norm."""

    title = "Mean and variance"
    how_to_read = "Of the numbers of each token’s vector, before the norm and after gain and shift."
    sources = (layer_norm, nn.LayerNorm.forward)
    canvas = CHART

    @cached_property
    def columns(self) -> dict[str, NDArray[np.float32]]:
        """Name -> a number per token, without padding."""
        before, after = around_norm(self.norm.mean, self.norm.variance, self.norm.result)
        return {
            f"{what} {when} the norm": values[: self.read, i].numpy()
            for when, values in (("before", before), ("after", after))
            for i, what in enumerate(("mean", "variance"))
        }

    def sentence(self) -> str:
        """The ranges of mean and variance before and after the norm."""
        ranges = {name: range_of(values) for name, values in self.columns.items()}
        single = self.read == 1
        mean, variance, are = ("mean", "variance", "is") if single else ("means", "variances", "are")
        before, after = (
            f"the {mean} of the {'token' if single else 'tokens'} {are} {ranges[f'mean {when} the norm']} and the "
            f"{variance} {ranges[f'variance {when} the norm']}"
            for when in ("before", "after")
        )
        return f"Before the norm {before}; after the norm, with gain and shift, {after}."

    def laws(self) -> dict[str, bool]:
        """Mean and variance are those of NumPy, in float64."""
        values = self.into_norm[: self.read].double().numpy()
        size = float(np.abs(values).max()) or 1.0
        mean = float(np.abs(values.mean(-1) - self.columns["mean before the norm"]).max()) / size
        variance = float(np.abs(values.var(-1) - self.columns["variance before the norm"]).max()) / size**2
        return {
            "mean and variance are NumPy’s, computed in float64 (largest differences "
            f"{formats.tiny(mean)} and {formats.tiny(variance)}, beside the largest number and its square)": max(
                mean, variance
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
            for what in ("mean", "variance")
        }
        return self.before_and_after("norm", ends, reach=(0,))

    def recipe(self) -> str:
        """A script that leaves `before` and `after`, mean and variance of each token."""
        return script(moments, **self.header)


def _share_off(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(torch.finfo(torch.float32).tiny))


def both_norms(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, block: str
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """The block in evaluation mode under both norms, the weights the same: norm -> (token, dimension)."""
    x, total, out = {}, {}, {}
    for norm in ("pre", "post"):
        recorded, _ = run(
            replace(config, norm=norm), inputs, mask, block, ("residual_before", "output", "residual_after")
        )
        x[norm], out[norm] = recorded[0], recorded[2]
        total[norm] = recorded[0] + recorded[1]
    return x, total, out


class BlockBoth(BlockMaps):
    """The block under both norms, in evaluation mode."""

    title = "Pre-norm and post-norm, the same weights"
    how_to_read = (
        "f is the sub-layer. The first map leaves the block in pre-norm, the third in post-norm. Without dropout."
    )

    @property
    def sources(self) -> Sequence[Source]:
        return (*super().sources, fill_parameters)

    @cached_property
    def under(self) -> dict[str, BlockPanel]:
        """Norm -> the block under it."""
        state = replace(self.state, dropout=0.0)
        return {norm: Block(self.model.varied(norm=norm), state) for norm in NORMS}

    @property
    def tables(self) -> dict[str, Tensor]:
        """Name -> (token, dimension): the sum under both norms, and what post-norm makes of it."""
        pre, post = self.under["pre"], self.under["post"]
        return {
            "pre-norm: x + f(norm(x))": pre.total,
            "post-norm: x + f(x)": post.total,
            "post-norm: norm(x + f(x))": post.norm.result,
        }

    @cached_property
    def lengths(self) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Norm -> (token), the lengths of the vectors that flow into the block and out of it, without padding."""
        return {norm: (block.lengths_of(block.x), block.lengths_of(block.out)) for norm, block in self.under.items()}

    def sentence(self) -> str:
        """The mean lengths before and after the block, under both norms."""
        means = {norm: [formats.number(float(end.mean())) for end in ends] for norm, ends in self.lengths.items()}
        goes = formats.listed([f"from {means[norm][0]} to {means[norm][1]} under {norm}-norm" for norm in NORMS])
        mean = "mean length" if self.read > 1 else "length"
        return f"In {self.where}, the {mean} of a token’s vector goes {goes}. {self._about_ends()}{self._about_start()}"

    def _about_ends(self) -> str:
        if self.read == 1:
            return ""
        spread = {norm: formats.number(float(np.ptp(after))) for norm, (_, after) in self.lengths.items()}
        return (
            f"The longest and the shortest vector that leave the block differ by {spread['pre']} under pre-norm and by "
            f"{spread['post']} under post-norm. "
        )

    def _about_start(self) -> str:
        """Whether both models read the same x here."""
        if torch.equal(self.under["pre"].x, self.under["post"].x):
            return "Both read the same x here: no norm stands before it in either model."
        return "They read different x here, as the blocks before it had other norms, too."

    def laws(self) -> dict[str, bool]:
        """The two models share their weights; each chain is what its own pass recorded."""
        ours, theirs = (dict(transformer(self.under[norm].config).named_parameters()) for norm in NORMS)
        names = ours.keys() & theirs.keys()
        alike = sum(torch.equal(ours[name], theirs[name]) for name in names)
        alone = sorted(ours.keys() ^ theirs.keys())
        last = f"; {formats.plural(len(alone), 'tensor')} of a final norm stand in pre-norm alone" if alone else ""
        off = {norm: float((block.out - block.after).abs().max()) for norm, block in self.under.items()}
        size = {norm: max(1.0, float(block.after.abs().max())) for norm, block in self.under.items()}
        return {
            f"{alike} of {len(names)} weight tensors are the same under both norms, bit for bit{last}": alike
            == len(names)
            and all("final_norm" in name for name in alone),
            "the steps give what each model’s pass recorded after the block (largest difference "
            f"{formats.tiny(max(off.values()))})": all(off[norm] < ROUNDING * size[norm] for norm in off),
        }

    def recipe(self) -> str:
        """A script that leaves `x`, `total` and `out`: norm -> (token, dimension)."""
        return script(both_norms, **in_script(self.model, self.config), block=self.site)


class BlockLengths(BlockBoth):
    """How long each token's vector is before and after the block, under both norms."""

    title = "Length of each vector"
    how_to_read = "The length ‖x‖ of each token’s vector before the block and after it, under both norms."
    sources = (added, TransformerLayer._add, nn.LayerNorm.forward)
    shape = ""
    canvas = CHART

    def sentence(self) -> str:
        """How far the lengths after the block lie apart."""
        longer = []
        for norm, (before, after) in self.lengths.items():
            vectors = formats.plural(len(after), "vector")
            are = "is" if len(after) == 1 else "are"
            longer.append(f"under {norm}-norm {int((after > before).sum())} of {vectors} {are} longer than before")
        root, width = formats.number(float(np.sqrt(self.model.d_model))), self.model.d_model
        return (
            f"Behind this block {formats.listed(longer)}. With a gain of 1 and a shift of 0, a norm of {width} numbers "
            f"leaves vectors of length √{width} = {root} or, through ε, less."
        )

    def laws(self) -> dict[str, bool]:
        """Whether no vector leaves post-norm longer than the root of d_model, where all gains are 1 and shifts 0."""
        post = self.under["post"]
        if not bool((post.gain == 1).all()) or bool(post.shift.any()):
            return {}
        most = float(self.lengths["post"][1].max()) / float(np.sqrt(self.model.d_model))
        return {f"no vector leaves post-norm longer than √d_model (the longest: {most:.6f} of it)": most < 1 + ROUNDING}

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return self.by_token(
            {
                f"{norm}-norm, {when}": values
                for norm in NORMS
                for when, values in zip(("before", "after"), self.lengths[norm], strict=True)
            }
        )

    def picture(self) -> Content:
        """How long the vectors are before and after the block, under both norms."""
        highest = max(float(np.max(end)) for ends in self.lengths.values() for end in ends)
        return self.before_and_after(
            "block", {f"length, {norm}-norm": self.lengths[norm] for norm in NORMS}, reach=(0, highest)
        )
