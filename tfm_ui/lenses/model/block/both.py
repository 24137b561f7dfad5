"""The chosen block under both norms, the weights the same: its numbers as maps, and the lengths of its vectors."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import NORMS, TransformerConfig, TransformerLayer
from tfm_core.model.initialization import fill_parameters
from tfm_ui.lenses.model.block.chain import (
    ROUNDING,
    BlockMaps,
    BlockPanel,
    added,
    run,
)
from tfm_ui.lenses.model.block.steps import Block
from tfm_ui.lenses.model.machine import in_script, same_numbers
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Source
from tfm_ui.text import formats


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
            if self.config.embedding_norm:
                return "Both read the same x here: only the norm of the embeddings stands before it, in both models."
            return "Both read the same x here: no norm stands before it in either model."
        return "They read different x here, as the blocks before it had other norms, too."

    def laws(self) -> dict[str, bool]:
        """The two models share their weights; each chain is what its own pass recorded."""
        ours, theirs = (dict(transformer(self.under[norm].config).named_parameters()) for norm in NORMS)
        names = ours.keys() & theirs.keys()
        alike = sum(same_numbers(ours[name], theirs[name]) for name in names)
        alone = sorted(ours.keys() ^ theirs.keys())
        stand = "stands" if len(alone) == 1 else "stand"
        last = f"; {formats.plural(len(alone), 'tensor')} of a final norm {stand} in pre-norm alone" if alone else ""
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
    shape = ""
    canvas = CHART

    @property
    def sources(self) -> Sequence[Source]:
        return (added, TransformerLayer._add, self.norm_program)

    def sentence(self) -> str:
        """How far the lengths after the block lie apart."""
        longer = []
        for norm, (before, after) in self.lengths.items():
            vectors = formats.plural(len(after), "vector")
            are = "is" if len(after) == 1 else "are"
            grown = int((after > before * (1 + ROUNDING)).sum())
            longer.append(f"under {norm}-norm {grown} of {vectors} {are} longer than before")
        root, width = formats.number(float(np.sqrt(self.model.d_model))), self.model.d_model
        plain = "" if self.is_rms else " and a shift of 0"
        return (
            f"After this block, {formats.listed(longer)}. With a gain of 1{plain}, a norm of {width} numbers "
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
