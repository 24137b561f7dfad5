"""The mean and the variance of each token's vector, before and after the norm of the block."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.model.block import recipe
from tfm_ui.lenses.model.block.chain import ROUNDING
from tfm_ui.lenses.model.block.chosen import Chosen
from tfm_ui.lenses.model.block.writing import counted
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class Moments(Result):
    """The mean and the variance of each token's numbers, before and after the norm."""

    block: Chosen

    @cached_property
    def columns(self) -> dict[str, NDArray[np.float32]]:
        """Name -> a number per token, without padding."""
        norm, read = self.block.chain.norm, self.block.read
        ends = {"before": (norm.mean[:, 0], norm.variance[:, 0])}
        ends["after"] = norm.result.mean(-1), norm.result.var(-1, correction=0)
        return {
            f"{what} {when} the norm": values[:read].numpy()
            for when, both in ends.items()
            for what, values in zip(("mean", "variance"), both, strict=True)
        }

    def sentence(self) -> str:
        """The ranges of mean and variance before and after the norm."""
        said = {name: _range(float(values.min()), float(values.max())) for name, values in self.columns.items()}
        single = self.block.read == 1
        mean, variance, are = ("mean", "variance", "is") if single else ("means", "variances", "are")
        before, after = (
            f"the {mean} of the {'token' if single else 'tokens'} {are} {said[f'mean {when} the norm']} and the "
            f"{variance} {said[f'variance {when} the norm']}"
            for when in ("before", "after")
        )
        return f"Before the norm {before}; after the norm, with gain and shift, {after}."

    def laws(self) -> dict[str, bool]:
        """Mean and variance are those of NumPy, in float64."""
        values = self.block.chain.into_norm[: self.block.read].double().numpy()
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
        names = counted(self.block.names[: self.block.read])
        return pd.DataFrame(self.columns, index=pd.Index(names, name="token"))

    def recipe(self) -> str:
        """A script that leaves `before` and `after`, mean and variance of each token."""
        return script(recipe.moments, **self.block.header)


def _range(low: float, high: float) -> str:
    ends = formats.number(low), formats.number(high)
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
