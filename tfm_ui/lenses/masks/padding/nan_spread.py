"""The panel "How a NaN spreads": from one row through the model, layer by layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import recording
from tfm_core.study import empty_rows
from tfm_ui.lenses.masks.masked_passes import at, forward_under_mask, layer_sites
from tfm_ui.lenses.masks.padding import recipe
from tfm_ui.lenses.masks.padding.padded_code import of_batch
from tfm_ui.lenses.masks.padding.rows_without_keys import (
    SPREADS,
    RowsWithoutKeys,
    TreatedPass,
    rows_without_keys,
    treated_passes,
)
from tfm_ui.lenses.masks.padding.shares import ROUNDING, moved, titles_of, told
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SOURCES = (
    empty_rows.instead,
    empty_rows.minus_infinity,
    empty_rows.minus_a_billion,
    forward_under_mask,
    recording,
)
INFINITE, LARGE, OURS = SPREADS


@dataclass(frozen=True)
class NanSpread(Result):
    """The whole model with each treatment in all its layers.

    Attributes:
        at: the sentence, its mask, and its rows without a key.
        runs: as `treated_passes` gives them.
    """

    at: RowsWithoutKeys
    runs: Mapping[str, TreatedPass]

    @cached_property
    def titles(self) -> list[str]:
        """Titles of the places where the stream is looked at."""
        return titles_of(self.at.batch.setting.model)

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, row), how far each vector is from ours; NaN where it is NaN."""
        return {name: moved(self.runs[OURS].streams, run.streams) for name, run in self.runs.items()}

    def nans(self, name: str) -> list[int]:
        """How many rows are NaN, at each place."""
        counts: list[int] = np.isnan(self.shares[name]).sum(1).tolist()
        return counts

    def lost(self, name: str) -> float:
        """The share of logits that are NaN."""
        return float(self.runs[name].logits.isnan().float().mean())

    def sentence(self) -> str:
        """How far it comes, and what the other ways cost."""
        total = formats.plural(len(self.at.queries), "row")
        counts = dict(zip(self.titles, self.nans(INFINITE), strict=True))
        steps = [f"{count} of {total} after {title}" for title, count in counts.items() if title.startswith("layer")]
        return (
            f"{INFINITE}: NaN in {', '.join(steps[:3])}{', and so on' if len(steps) > 3 else ''}; in "
            f"{formats.percent(self.lost(INFINITE))} of the logits. {self._why()} {self._quiet()}"
        )

    def _why(self) -> str:
        model, counts, onto = self.at.batch.setting.model, self.nans(INFINITE), self.runs[INFINITE].on_empty_rows
        if not self.at.others:
            return "No row has a key: all are NaN at once."
        if model.num_layers == 1:
            return "There is no second layer for it to spread in."
        if counts[2] == counts[1]:
            return "In layer 2 it stays where it is."
        if onto is None:
            return "It spreads where the decoder looks at its own text: 0 × NaN = NaN, even where causality hides it."
        row, it = ("the row", "it") if len(self.at.rows) == 1 else ("the rows", "them")
        if not onto.blind:
            whose = "its key and value are" if it == "it" else "their keys and values are"
            return f"In layer 2 {whose} NaN for all who may look at {it}."
        give = "gives" if onto.blind == 1 else "give"
        weight = formats.weight(onto.largest[self.at.state.head - 1])
        return (
            f"Hiding {row} from others does not help: in layer 2 (head {self.at.state.head}) "
            f"{formats.plural(onto.blind, 'row')} that may not look there {give} {it} a weight of {weight}, and "
            f"{weight} × NaN = NaN."
        )

    def _quiet(self) -> str:
        """What the way without a NaN costs."""
        apart = self.shares[LARGE][-1]
        emptied, rest = (float(apart[rows].max(initial=0)) for rows in (self.at.rows, self.at.others))
        rows, most = ("the row is", "") if len(self.at.rows) == 1 else ("the rows are", "up to ")
        others = (
            f", others {'by rounding alone' if rest < ROUNDING else f'by up to {told(rest)}'}" if self.at.others else ""
        )
        far = f"{most}{told(emptied)} of a length away from ours{others}"
        return f"{LARGE}: no NaN to warn anyone, and in the end {rows} {far}."

    def laws(self) -> dict[str, bool]:
        """Which ways stay without a NaN."""
        return {f"{name}: no NaN in any row of any layer": not sum(self.nans(name)) for name in self.runs}

    def table(self) -> pd.DataFrame:
        """A row per way, place and token."""
        frames = [
            pd.DataFrame(
                {
                    "way": name,
                    "place": title,
                    "row": range(1, len(row) + 1),
                    "token": self.at.queries,
                    "NaN": np.isnan(row),
                    "difference from ours": row,
                }
            )
            for name, shares in self.shares.items()
            for title, row in zip(self.titles, shares, strict=True)
        ]
        return pd.concat(frames, ignore_index=True)

    def recipe(self) -> str:
        """A script that leaves, by way, `streams`, for each place (token, d_model), and `logits`, (token, vocab)."""
        batch = self.at.batch
        return script(
            recipe.spread_through_the_model,
            **of_batch(batch, words=False),
            emptied=self.at.rows if self.at.by_hand else [],
            attention=at(batch.setting, "*", "").rstrip("."),
            sites=layer_sites(batch.setting.model),
        )


def nan_spread(model: ModelState, state: MasksState) -> NanSpread:
    """Run the model under the mask with the empty rows, three ways."""
    rows = rows_without_keys(model, state)
    return NanSpread(rows, treated_passes(rows.batch, state.row))
