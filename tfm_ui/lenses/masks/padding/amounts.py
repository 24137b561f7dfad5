"""The panel "By how much padding": the largest move of an output by the number of PADs."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.lenses.masks.mask_code import function_of
from tfm_ui.lenses.masks.masked_passes import layer_sites
from tfm_ui.lenses.masks.padding import recipe
from tfm_ui.lenses.masks.padding.beside import TITLES, AloneAndPadded
from tfm_ui.lenses.masks.padding.padded_code import of_batch
from tfm_ui.lenses.masks.padding.shares import told
from tfm_ui.live.script import script
from tfm_ui.live.texts import texts_of
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class ByAmount(Result):
    """The sentence beside more or less padding.

    Attributes:
        beside: the sentence run alone and in its batch.
    """

    beside: AloneAndPadded

    def sentence(self) -> str:
        """How the number of PADs matters."""
        counts = [count for count in self.beside.amounts if count]
        if not counts:
            return "There is no room for padding beside this sentence."
        first, last = (self.beside.amounts[counts[i]] for i in (0, -1))
        span = (
            f"From {formats.plural(counts[0], 'PAD')} to {counts[-1]}"
            if len(counts) > 1
            else f"With {formats.plural(counts[0], 'PAD')}"
        )

        def way(i: int) -> str:
            return f"{told(first[i])} to {told(last[i])}" if len(counts) > 1 else told(first[i])

        setting = self.beside.batch.setting
        bare = " Paint on PAD is left out here." if setting.paint and self.beside.batch.side == "right" else ""
        return f"{span} the largest move of an output goes, hidden: {way(0)}; not hidden: {way(1)} of its length.{bare}"

    def table(self) -> pd.DataFrame:
        """A row per number of PADs."""
        index = pd.Index(list(self.beside.amounts), name="PADs")
        columns = [f"largest move, {title.lower()}" for title in TITLES.values()]
        return pd.DataFrame(list(self.beside.amounts.values()), index=index, columns=columns)

    def recipe(self) -> str:
        """A script that leaves `moves`, PADs -> the largest move of an output, with padding hidden and without."""
        batch = self.beside.batch
        header = of_batch(batch, words=True)
        for beside_this_padding in ("ids", "padded", "key_ids", "mask_with_padding", "rows", "columns"):
            del header[beside_this_padding]
        return script(
            recipe.moves_by_amount,
            **header,
            composed=function_of(batch.setting),
            output=layer_sites(batch.setting.model)[-1],
            amounts=tuple(self.beside.amounts),
            left=batch.side == "left",
            texts=tuple(int(text == "target") for text in texts_of(batch.setting.place)),
        )
