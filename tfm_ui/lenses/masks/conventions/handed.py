"""The panels of our mask, and of what the chosen call gets in its place."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.masks.conventions.calls import Conventions
from tfm_ui.lenses.masks.conventions.code import code_to_copy
from tfm_ui.lenses.masks.conventions.table_names import CORNER
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class OurMask(Result):
    """The chosen sentence's mask as we have it.

    Attributes:
        conventions: the batch, and the convention that was chosen.
    """

    conventions: Conventions

    def sentence(self) -> str:
        """The mask of the chosen sentence in words."""
        mask = self.conventions.mask[self.conventions.at]
        kept, lost = int(mask.sum()), int(self.conventions.lost[self.conventions.at].sum())
        said = f"Of {formats.count(mask.numel())} pairs {formats.count(kept)} may attend."
        if not lost:
            return f"{said} “{self.conventions.name}” says all of it."
        return (
            f"{said} “{self.conventions.name}” cannot say {formats.count(lost)} of the {formats.count(mask.numel())}."
        )

    def table(self) -> pd.DataFrame:
        """The chosen sentence's mask."""
        return _frame(self.conventions.mask[self.conventions.at].numpy(), *self.conventions.names, "True = may attend")

    def recipe(self) -> str:
        """The code to copy."""
        return code_to_copy(self.conventions.settings, self.conventions.convention)


@dataclass(frozen=True)
class HandedMask(Result):
    """What the call gets, number by number.

    Attributes:
        conventions: the batch, and the convention that was chosen.
    """

    conventions: Conventions

    def slice(self) -> tuple[NDArray[np.float64], str]:
        """The two axes of what is handed over that concern the chosen sentence and head, and what to call them."""
        batch, handed = self.conventions, self.conventions.handed
        if handed.dim() == 4:
            return handed[batch.at, 0].double().numpy(), f"mask[{batch.at}, 0]"
        if handed.dim() == 3:
            heads = batch.model.num_heads
            at = batch.at * heads + min(batch.state.head, heads) - 1
            return handed[at].double().numpy(), f"mask[{at}]"
        return handed.double().numpy(), "handed over"

    def slice_names(self) -> tuple[list[str], list[str]]:
        """Names of the slice's rows and columns."""
        queries, keys = self.conventions.names
        if self.conventions.per_query:
            return queries, keys
        count = len(self.conventions.settings)
        return [str(i + 1) for i in range(count)], keys if count == 1 else [str(i + 1) for i in range(len(keys))]

    def about_slice(self) -> str:
        """What the drawing shows of what is handed over."""
        if self.conventions.handed.dim() > 2:
            head = " and head" * (self.conventions.handed.dim() == 3)
            return f"Of what the call gets, the part of the chosen sentence{head}."
        what = "one mask for all sentences" if self.conventions.per_query else "a row per sentence"
        return f"All that the call gets: {what}."

    def sentence(self) -> str:
        """What is handed over in words."""
        shape, dtype, convention = self.conventions.shape, self.conventions.dtype, self.conventions.convention
        return f"{shape}, {dtype}: {convention.keeps} where a pair may attend, {convention.hides} where it may not."

    def table(self) -> pd.DataFrame:
        """What of the call's mask is drawn."""
        convention = self.conventions.convention
        says = f"{convention.keeps} = may attend, {convention.hides} = hidden"
        return _frame(self.slice()[0], *self.slice_names(), says)

    def recipe(self) -> str:
        """The code to copy."""
        return code_to_copy(self.conventions.settings, self.conventions.convention)


def _frame(values: NDArray[Any], rows: list[str], columns: list[str], says: str) -> pd.DataFrame:
    """A table with numbers before the names, as several may be PAD; its file's first cell says what cells mean."""
    return pd.DataFrame(
        values,
        index=pd.Index([f"{i + 1} {name}" for i, name in enumerate(rows)], name=f"{CORNER}: {says}"),
        columns=[f"{i + 1} {name}" for i, name in enumerate(columns)],
    )
