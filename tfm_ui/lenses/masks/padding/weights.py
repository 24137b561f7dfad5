"""Where the weight goes: one head alone, in the batch with padding hidden, and without."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_ui.lenses.masks.masked_passes import at
from tfm_ui.lenses.masks.padding.beside import TITLES, BesidePanel, recorded_alone_and_padded
from tfm_ui.lenses.masks.padding.padded import of_batch, with_tokens
from tfm_ui.live import tables, windows
from tfm_ui.live.script import script
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import ABSENT, Axis, Map
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

RUNS = {"alone": "Alone"} | TITLES


def weights_beside(
    *,
    config: TransformerConfig,
    alone: Sequence[Tensor],
    padded: Sequence[Tensor],
    key_ids: Tensor,
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    argument: str,
    mask_site: str,
    site: str,
    head: int,
) -> dict[str, Tensor]:
    """The weights of one head, alone and in the batch: run -> (token, key)."""
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    traces = recorded_alone_and_padded(
        config, alone, padded, key_ids, among_tokens, mask_with_padding, argument, mask_site, [site]
    )
    weights = {way: trace[site][0, head] for way, trace in traces.items()}
    weights = {way: each if way == "alone" else each[rows] for way, each in weights.items()}
    return weights


class PaddingWeights(BesidePanel):
    """The chosen head of each run."""

    title = "Where the weight goes"

    @property
    def how_to_read(self) -> str:
        head = f"{self.where[0].upper()}{self.where[1:]}"
        return f"{head} in the three runs; tokens (rows) look at tokens and PAD (columns). One scale."

    @cached_property
    def maps(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (token, key); NaN where the mask forbids to look, and alone where padding would be."""
        batch, maps = self.batch, {}
        for way, weights in self.weights.items():
            if way == "alone":
                maps[way] = np.full((len(self.names), len(self.keys)), np.nan, np.float32)
                maps[way][:, batch.keys] = weights.where(batch.alone[1], torch.nan).numpy()
            else:
                mask = batch.masks(hidden=way == "with")[batch.item, 0][batch.queries]
                maps[way] = weights.where(mask, torch.nan).numpy()
        return maps

    @cached_property
    def onto(self) -> NDArray[np.float32]:
        """The share of each token's weights that lies on padding where that is not hidden: (token)."""
        onto: NDArray[np.float32] = self.weights["without"][:, self.open_columns].sum(-1).numpy()
        return onto

    def sentence(self) -> str:
        """The share of weight that lies on padding, in a sentence."""
        count = len(self.open_columns)
        if not count:
            alone, *others = self.weights.values()
            apart = max(float((weights - alone).abs().max()) for weights in others)
            return f"In {self.where} no key is padding, and the three maps differ by {formats.tiny(apart)} at most."
        pads, take = (f"the {count} PADs", "take") if count > 1 else ("the one PAD", "takes")
        if not self.may_look:
            return f"In {self.where} nobody may look at {pads}, even where PAD is taken for a word."
        most = places_of_largest(self.onto, size=1.0)
        mean, largest = (formats.percent(float(share)) for share in (self.onto.mean(), self.onto[most[0]]))
        return (
            f"In {self.where} {pads} {take} {mean} of a token’s weight on average, of "
            f"“{self.names[most[0]]}” most{one_of_ties(len(most))}, {largest}. "
            "A row sums to 1: what PAD takes, tokens lose."
        )

    def laws(self) -> dict[str, bool]:
        """Whether padding has no weight where it is hidden."""
        if not len(self.open_columns):
            return {}
        given = float(self.weights["with"][:, self.open_columns].max())
        return {f"padding hidden: PAD gets no weight (largest {formats.weight(given)})": given == 0}

    def table(self) -> pd.DataFrame:
        """A row per run and token, a column per key, padding numbered."""
        keys = [f"{key} {place}" if key == "PAD" else key for place, key in enumerate(self.keys, 1)]
        names = pd.Index(self.names, name="query \\ key")
        tables = {RUNS[way]: pd.DataFrame(weights, index=names, columns=keys) for way, weights in self.maps.items()}
        return pd.concat(tables, names=["run"])

    def picture(self) -> Content:
        """One head alone, and in the batch with padding hidden and without."""
        part = windows.part_of(windows.WHOLE, len(self.names), len(self.keys))
        scale = from_zero(max(float(weights.max()) for weights in self.weights.values()))
        tensors = {way: torch.from_numpy(weights) for way, weights in self.maps.items()}
        drawn = {way: windows.pooled(tables.matrix(weights), part) for way, weights in tensors.items()}
        first = np.arange(0, part.columns, part.block[1])
        there = np.add.reduceat(np.isin(np.arange(part.columns), self.open_columns, invert=True), first)
        drawn["alone"][:, there == 0] = ABSENT
        return maps.content(
            [Map(name=RUNS[way], values=weights, scale=scale, unit="weight") for way, weights in drawn.items()],
            rows=Axis(part.row_names(self.names), "query (row): looks", "query", "query"),
            columns=Axis(part.column_names(self.keys), "key (column): is looked at", "key", "key"),
            places=([place + 1 for place in range(0, part.rows, part.block[0])], [int(at) + 1 for at in first]),
            part=part,
            square=part.columns <= 3 * part.rows,  # else a short sentence in much padding would be a thread
        )

    def recipe(self) -> str:
        """A script that leaves `weights`, run -> (token, key)."""
        site = at(self.setting, self.layer, "weights")
        return script(weights_beside, **of_batch(self.batch, words=True), site=site, head=self.head)
