"""The chosen block with its norm before the sub-layer and with its norm after the sum, on the same weights."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import NORMS
from tfm_ui.lenses.model.block import recipe
from tfm_ui.lenses.model.block.chain import ROUNDING, Chain
from tfm_ui.lenses.model.block.chosen import Chosen, chain
from tfm_ui.lenses.model.block.writing import counted, lengths
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class Both(Result):
    """The block under both norms, in evaluation mode.

    Attributes:
        block: the block as the sidebar has it.
        chains: norm -> the block under it; the sidebar's norm first.
    """

    block: Chosen
    chains: dict[str, Chain]

    @property
    def tables(self) -> dict[str, Tensor]:
        """Name -> (token, dimension): the sum under both norms, and what post-norm makes of it."""
        pre, post = self.chains["pre"], self.chains["post"]
        return {
            "pre-norm: x + f(norm(x))": pre.total,
            "post-norm: x + f(x)": post.total,
            "post-norm: norm(x + f(x))": post.norm.result,
        }

    @cached_property
    def lengths(self) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Norm -> (token), the lengths of the vectors that flow into the block and out of it, without padding."""
        read = self.block.read
        return {norm: (lengths(ends.x, read), lengths(ends.out, read)) for norm, ends in self.chains.items()}

    def sentence(self) -> str:
        """The mean lengths before and after the block, under both norms."""
        means = {norm: [float(end.mean()) for end in ends] for norm, ends in self.lengths.items()}
        said = [
            f"from {formats.number(means[norm][0])} to {formats.number(means[norm][1])} under {norm}-norm"
            for norm in NORMS
        ]
        spread = {norm: float(np.ptp(ends[1])) for norm, ends in self.lengths.items()}
        return (
            f"In {self.block.where}, the {self._mean} of a token’s vector goes {formats.listed(said)}. "
            f"{self._about_ends(spread)}{self._about_start()}"
        )

    @property
    def _mean(self) -> str:
        return "mean length" if self.block.read > 1 else "length"

    def _about_ends(self, spread: dict[str, float]) -> str:
        if self.block.read == 1:
            return ""
        texts = {norm: formats.number(width) for norm, width in spread.items()}
        return (
            f"The longest and the shortest vector that leave the block differ by {texts['pre']} under pre-norm and by "
            f"{texts['post']} under post-norm. "
        )

    def _about_start(self) -> str:
        """Whether both models read the same x here."""
        if torch.equal(self.chains["pre"].x, self.chains["post"].x):
            return "Both read the same x here: no norm stands before it in either model."
        return "They read different x here, as the blocks before it had other norms, too."

    def laws(self) -> dict[str, bool]:
        """The two models share their weights; each chain is what its own pass recorded."""
        ours, theirs = (dict(transformer(self.chains[norm].config).named_parameters()) for norm in NORMS)
        names = ours.keys() & theirs.keys()
        alike = sum(torch.equal(ours[name], theirs[name]) for name in names)
        alone = sorted(ours.keys() ^ theirs.keys())
        last = f"; {formats.plural(len(alone), 'tensor')} of a final norm stand in pre-norm alone" if alone else ""
        off = {norm: float((ends.out - ends.after).abs().max()) for norm, ends in self.chains.items()}
        size = {norm: max(1.0, float(ends.after.abs().max())) for norm, ends in self.chains.items()}
        return {
            f"{alike} of {len(names)} weight tensors are the same under both norms, bit for bit{last}": alike
            == len(names)
            and all("final_norm" in name for name in alone),
            "the steps give what each model’s pass recorded after the block (largest difference "
            f"{formats.tiny(max(off.values()))})": all(off[norm] < ROUNDING * size[norm] for norm in off),
        }

    def table(self) -> pd.DataFrame:
        """A row per token and dimension."""
        dims = range(1, self.block.model.d_model + 1)
        index = pd.MultiIndex.from_product([counted(self.block.names), dims], names=["token", "dimension"])
        return pd.DataFrame({name: values.flatten().numpy() for name, values in self.tables.items()}, index=index)

    def recipe(self) -> str:
        """A script that leaves `x`, `total` and `out`: norm -> (token, dimension)."""
        numbers = self.block.chain
        return script(recipe.both_norms, **in_script(self.block.model, numbers.config), block=numbers.site)


@dataclass(frozen=True)
class Lengths(Result):
    """How long each token's vector is before and after the block, under both norms."""

    both: Both

    def sentence(self) -> str:
        """How far the lengths after the block lie apart."""
        said = []
        for norm in NORMS:
            before, after = self.both.lengths[norm]
            longer = int((after > before).sum())
            are = "is" if len(after) == 1 else "are"
            said.append(
                f"under {norm}-norm {longer} of {formats.plural(len(after), 'vector')} {are} longer than before"
            )
        root, width = formats.number(float(np.sqrt(self.both.block.model.d_model))), self.both.block.model.d_model
        return (
            f"Behind this block {formats.listed(said)}. With a gain of 1 and a shift of 0, a norm of {width} numbers "
            f"leaves vectors of length √{width} = {root} or, through ε, less."
        )

    def laws(self) -> dict[str, bool]:
        """Whether no vector leaves post-norm longer than the root of d_model, where all gains are 1 and shifts 0."""
        post = self.both.chains["post"]
        if not bool((post.gain == 1).all()) or bool(post.shift.any()):
            return {}
        most = float(self.both.lengths["post"][1].max()) / float(np.sqrt(self.both.block.model.d_model))
        return {f"no vector leaves post-norm longer than √d_model (the longest: {most:.6f} of it)": most < 1 + ROUNDING}

    def table(self) -> pd.DataFrame:
        """A row per token."""
        columns = {
            f"{norm}-norm, {when}": values
            for norm in NORMS
            for when, values in zip(("before", "after"), self.both.lengths[norm], strict=True)
        }
        names = counted(self.both.block.names[: self.both.block.read])
        return pd.DataFrame(columns, index=pd.Index(names, name="token"))

    def recipe(self) -> str:
        """A script that leaves `x` and `out`, whose rows these lengths are of."""
        return self.both.recipe()


def both(block: Chosen) -> Both:
    """The block under both norms, without dropout."""
    model, state = block.model, replace(block.state, dropout=0.0)
    return Both(block, {norm: chain(model, state, norm) for norm in NORMS})
