"""One attention of the model that a link describes, and what the panels share that look into it."""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import Tokens
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import places
from tfm_ui.live.inside import Inside
from tfm_ui.live.places import tokens_of
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.live_steps import inside as inside
from tfm_ui.live.tensors.step import Step
from tfm_ui.pictures.heatmaps import numbered
from tfm_ui.pictures.panel import Panel
from tfm_ui.text import token_labels

# Of a map of weights: title, noun and role of its rows and of its columns, and what a click on a cell sets.
ROWS, COLUMNS = ("query (row): looks", "query", "query"), ("key (column): is looked at", "key", "key")
ASKS = ("attention_query", "attention_key")


class AttentionPanel(Panel):
    """A panel of this lens, on one attention of the model, and mostly on one head of it."""

    state: AttentionState

    @property
    def kind(self) -> str:
        """The kind of attention, as in `Pass.attention`."""
        return places.kind_of(self.model, self.state.kind)

    @property
    def layer(self) -> int:
        """The layer, from 0."""
        return self.state.layer - 1

    @property
    def head(self) -> int:
        """The head, from 0."""
        return self.state.head - 1

    @property
    def inside(self) -> Inside:
        """What this attention read and wrote."""
        return inside(self.model, self.kind, self.layer)

    def site(self, what: str, layer: int | None = None) -> str:
        """The name in a recording of what this attention computes, in this layer or another."""
        place = places.place(self.model, places.kind_of(self.model, self.kind))
        return place.format(layer=self.layer if layer is None else layer, what=what)

    @property
    def tokens(self) -> tuple[Tokens, Tokens]:
        """The tokens of the queries and of the keys."""
        return tokens_of(self.model, self.kind)

    @cached_property
    def read(self) -> int:
        """How many of the queries are tokens; the rest is padding."""
        return len(self.tokens[0].pieces)

    @cached_property
    def queries(self) -> list[str]:
        """A label per row, padding included."""
        return token_labels.labels(self.tokens[0])

    @cached_property
    def keys(self) -> list[str]:
        """A label per column, padding included."""
        return token_labels.labels(self.tokens[1])

    @property
    def tensors(self) -> Step | None:
        return live_steps.attention(self.model, self.kind, self.layer)

    @property
    def shape(self) -> str:
        return f"query × key = {len(self.queries)} × {len(self.keys)}"

    @property
    def numbered(self) -> tuple[list[str], list[str]]:
        """What rows and columns are called in tables: equal labels have different numbers."""
        return numbered(self.queries), numbered(self.keys)

    def pairs(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> pd.MultiIndex:
        """The index of a table of these pairs, a row for each."""
        queries, keys = self.numbered
        named = [[queries[row] for row in rows], [keys[column] for column in columns]]
        return pd.MultiIndex.from_arrays(named, names=["query", "key"])
