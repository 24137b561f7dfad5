"""The panels of the Heads lens: all heads as thumbnails, one head large, and all of them as numbers."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from tfm_core import (
    POSITIONAL,
    MultiHeadAttention,
    Positional,
    Tokens,
    attention_scores,
    attention_weights,
    mask_scores,
)
from tfm_core.study.attention_arrays import read_attention
from tfm_ui.lenses.heads.state import PREFIX, HeadsState
from tfm_ui.live import array_recipes, head_recipe
from tfm_ui.live.array_recipes import of_file
from tfm_ui.live.attention import MASKED as MASKED_CELL
from tfm_ui.live.attention import SUMMARY, Attention, Summary, summarise
from tfm_ui.live.passes import run, summary
from tfm_ui.live.places import kind_of, place, tokens_of
from tfm_ui.live.script import of_model, script
from tfm_ui.page import controls
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.panel import OpenTable, Panel, Pick, Source
from tfm_ui.text import formats, head_sentences, token_labels
from tfm_ui.text.head_sentences import Rows
from tfm_ui.text.ties import one_of_ties, places_of_largest

MASKED = -1.0  # in place of the weight of a masked cell of the large map
PADDING = "Rows of padding are computed, but nothing reads them."
GIVEN = "the file’s number"  # what a weight is that comes out of a file
NO_SUMS = "Rows of this file do not sum to 1."
NO_SHARES = (
    "Rows of this file do not sum to 1, so entropies, distances and shares are sums of its numbers, and not averages."
)
MEANING = {
    "entropy": "nats; 0 is one key alone",
    "distance": "tokens from query to key, weighted",
    "self": "share of the weight that tokens give themselves",
    "prev": "share on the token before",
    "first": "share on the first token",
}


def grid_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per head, a row of them per layer."""
    heads, rows, columns, block = (header[name] for name in ("heads", "rows", "columns", "block"))
    sides = [
        Side(
            labels=[str(i * block + 1) for i in range(count)], title=noun, noun=noun if block == 1 else many, role=noun
        )
        for count, noun, many in ((rows, "query", "queries from"), (columns, "key", "keys from"))
    ]
    largest, ends = np.array(header["largest"], np.float32), np.array(header["ends"], np.float32)
    weights = numbers.reshape(-1, rows, columns) * (largest / (MASKED_CELL - 1))[:, None, None]
    weights[numbers.reshape(weights.shape) == MASKED_CELL] = np.nan
    drawn = [
        Heat(
            name=f"L{i // heads + 1} h{i % heads + 1}",
            values=weights[i],
            rows=sides[0],
            columns=sides[1],
            scale=from_zero(top),
            unit="weight",
        )
        for i, top in enumerate((largest / ends).tolist())
    ]
    told = f"Weights are rounded to 1/{MASKED_CELL - 1} of each head’s largest."
    if block > 1:
        told += f" Pooled: a cell is the largest of {block} × {block} weights."
    if header["read"] < rows:
        told += f" {PADDING}"
    return heatmaps.figure(drawn, told=told, across=heads, named=False)


GRID = Canvas(
    "lenses/heads/heads_grid",
    """
<div class="heads" data-picture>
  <div class="scroll"><div class="cells"></div></div>
  <div class="glass" hidden><b></b><canvas></canvas><p></p></div>
  <div class="foot">
    <span class="bar">0 <i></i> <b></b> weight</span><span class="chip"><i></i> masked</span>
    <span class="exact"></span>
    <span class="say" aria-live="polite"></span>
  </div>
</div>
""",
    grid_figure,
)


def head_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The weights of the head."""
    queries, keys = header["queries"], header["keys"]
    weights = numbers.reshape(len(queries), len(keys))
    heat = Heat(
        name="",
        values=np.where(weights == MASKED, np.float32(np.nan), weights),
        rows=Side(labels=numbered(queries), title="query (row): looks", noun="query", role="query"),
        columns=Side(labels=numbered(keys), title="key (column): is looked at", noun="key", role="key"),
        scale=from_zero(header["top"]),
        unit="weight",
    )
    padding = "" if header["read"] == len(queries) else PADDING
    return heatmaps.figure([heat], told=f"A weight is {header['formula']}. {padding}")


MAP = Canvas("lenses/heads/head_map", f'<div class="map" data-picture>{CELLS}</div>', head_figure)


class HeadsPanel(Panel):
    """A panel on all heads of one kind of attention."""

    state: HeadsState

    works_on_weights_alone = True

    @property
    def kind(self) -> str:
        """The kind of attention, as in `Pass.attention`; in a single stack the link's is ignored."""
        return kind_of(self.model, self.state.kind)

    @property
    def layer(self) -> int:
        """The locked layer, from 0."""
        return min(self.state.layer, self.model.num_layers) - 1

    @property
    def head(self) -> int:
        """The locked head, from 0."""
        return min(self.state.head, self.model.num_heads) - 1

    @cached_property
    def attention(self) -> Attention:
        """The heads."""
        return run(self.model).attention[self.kind]

    @cached_property
    def kept(self) -> Summary:
        """A map and numbers of each head; computed when the first is asked for."""
        return summary(self.model, self.kind)

    @property
    def read(self) -> int:
        """How many of the rows are tokens; the rest is padding."""
        return self.attention.read

    @cached_property
    def _texts(self) -> tuple[Tokens, Tokens]:
        return tokens_of(self.model, self.kind)

    @cached_property
    def queries(self) -> list[str]:
        """A label for each row, padding included."""
        return token_labels.labels(self._texts[0])

    @cached_property
    def keys(self) -> list[str]:
        """A label for each column, padding included."""
        return token_labels.labels(self._texts[1])

    @property
    def ids(self) -> Sequence[int]:
        """The number of each row's token, without padding."""
        return self._texts[0].ids[: self.read]

    @property
    def same_text(self) -> bool:
        """Whether rows and columns are the same tokens, as in self-attention, so that there is a distance."""
        return self.kind != "cross"

    @cached_property
    def visible_keys(self) -> NDArray[np.intp]:
        """How many keys each query may see, (query)."""
        return np.asarray(self.attention.visible.sum(1))

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """Layer and head of each head, from 0, layer by layer."""
        layers, heads = self.kept.largest.shape
        return ((layer, head) for layer in range(layers) for head in range(heads))

    def exact(self, layer: int, head: int) -> NDArray[np.float32]:
        """The weights of one head, (query, key), without rows of padding."""
        return self.attention.exact(layer, head)[: self.read]

    def sentence_of(self, layer: int, head: int) -> str:
        """What one head does; layer and head from 0."""
        read, kept = self.read, self.kept.layers[layer]
        rows = Rows(kept.first[head, :read], kept.key[head, :read], kept.second[head, :read], self.visible_keys[:read])
        return head_sentences.about_head(
            rows,
            self.queries,
            self.keys,
            same_text=self.same_text,
            ids=self.ids,
            shares_out_1=self.attention.shares_out_1,
        )

    @cached_property
    def top(self) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head)."""
        largest, scale = self.kept.largest, self.state.scale
        if scale == "own":
            return largest
        chosen = self.kept.first[:, :, self.visible_keys > 1]
        ends = {"largest": largest.max(), "choice": chosen.max() if chosen.size else largest.max()}
        return np.full_like(largest, ends[scale] if scale in ends else float(scale))

    def table(self) -> pd.DataFrame:
        """A row for each head: entropy in nats, mean distance in tokens, shares in %. Padding rows are left out."""
        columns = {}
        for name in SUMMARY:
            if self.same_text or name in ("entropy", "first"):
                values = np.concatenate([layer.summary[name] for layer in self.kept.layers])
                columns[name] = values if name in ("entropy", "distance") else 100 * values
        names = [f"L{layer + 1} h{head + 1}" for layer, head in self.places]
        return pd.DataFrame(columns, index=pd.Index(names, name="head"))


class Heads(HeadsPanel):
    """A thumbnail for each head."""

    key = "grid"
    how_to_read = "Rows are layers, columns are heads. A click on a head shows it large."
    sources = (summarise, *SUMMARY.values())
    canvas = GRID

    @property
    def title(self) -> str:
        count = self.model.num_layers * self.model.num_heads
        return f"All {count} heads" if count > 1 else "The only head"

    @property
    def on_pick(self) -> Pick:
        return lock

    def sentence(self) -> str:
        """What stands out among all heads."""
        if not self.attention.shares_out_1:
            layer, head = (int(at) for at in np.unravel_index(self.kept.largest.argmax(), self.kept.largest.shape))
            largest = formats.weight(self.kept.largest[layer, head])
            ties = one_of_ties(len(places_of_largest(self.kept.largest)))
            return f"The largest number, {largest}, is in layer {layer + 1}, head {head + 1}{ties}. {NO_SUMS}"
        return head_sentences.about_heads(self.kept.first[:, :, : self.read], self.visible_keys[: self.read])

    def picture(self) -> Content:
        """The grid of all heads, with a ring around the locked one, and a sentence for each."""
        maps = np.stack([layer.maps for layer in self.kept.layers])
        layers, heads, rows, columns = maps.shape
        largest, top = self.kept.largest, self.top
        one_scale = top.min() == top.max()
        header = {
            "layers": layers,
            "heads": heads,
            "rows": rows,
            "columns": columns,
            "block": self.attention.block,
            "read": -(-self.read // self.attention.block),  # rounded up
            "largest": largest.flatten().tolist(),
            "ends": (largest / top).flatten().tolist(),
            "picked": (self.layer, self.head),
            "masked": bool(~self.attention.visible.all()),
            "topText": formats.end_of_scale(top.max(), largest.max()) if one_scale else "each head's largest",
            "about": [self.sentence_of(*at) for at in self.places],
        }
        return header, maps


class Head(HeadsPanel):
    """The locked head, large: its exact weights."""

    name = "head"
    locked = True
    canvas = MAP

    @property
    def title(self) -> str:
        return f"Layer {self.state.layer}, head {self.state.head}"

    @property
    def shape(self) -> str:
        return f"query × key = {len(self.queries)} × {len(self.keys)}"

    @property
    def how_to_read(self) -> str:
        if self.model.array:
            return "Read a row: how much one query looks at each key."
        return "Read a row: how one query spreads its 1.00 over the keys it may see."

    @property
    def sources(self) -> Sequence[Source]:
        if self.model.array:
            return (read_attention,)
        return attention_scores, mask_scores, attention_weights, MultiHeadAttention.forward, Attention.with_scores

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The weights, float32 (query, key)."""
        return self.attention.exact(self.layer, self.head)

    @property
    def formula(self) -> str:
        """How a weight is computed from its query and key: softmax(q·k / √dₖ), as the positional scheme changes it."""
        if self.model.array:
            return GIVEN
        enters = (POSITIONAL[self.model.positional] if self.same_text else Positional).enters()
        product = "turned q·k" if "rotate" in enters else "q·k"
        return f"softmax({product} / √dₖ" + (" + bias)" if "bias_at" in enters else ")")

    def sentence(self) -> str:
        """What stands out in this head."""
        return self.sentence_of(self.layer, self.head)

    def laws(self) -> dict[str, bool]:
        """Laws of attention weights, tested on the numbers of this head."""
        visible = self.attention.visible
        error = float(np.abs(self.weights.sum(-1) - visible.any(-1)).max())
        laws = {f"every row sums to 1 (largest error {formats.tiny(error)})": error <= self.attention.tolerance}
        if not visible.all():
            laws["masked weights are exactly 0"] = not self.weights[~visible].any()
        return laws

    def picture(self) -> Content:
        """The weights, and the names of rows and columns."""
        top = self.top[self.layer, self.head].item()
        header = {
            "queries": self.queries,
            "keys": self.keys,
            "read": self.read,
            "top": top,
            "topText": formats.end_of_scale(top, self.weights.max()),
            "formula": self.formula,
        }
        return header, np.where(self.attention.visible, self.weights, np.float32(MASKED))

    def table(self) -> pd.DataFrame:
        """The weights; rows and columns are named by number and label."""
        rows, columns = ([f"{i} {label}" for i, label in enumerate(side, 1)] for side in (self.queries, self.keys))
        return pd.DataFrame(self.weights, index=pd.Index(rows, name="query \\ key"), columns=columns)

    def recipe(self) -> str:
        """A script that leaves the shown weights in `weights`, (query, key)."""
        if array := self.model.array:
            return script(array_recipes.head_weights, **of_file(array), layer=self.layer, head=self.head)
        site = place(self.model, self.kind).format(layer=self.layer, what="weights")
        return script(head_recipe.weights, **of_model(self.model), site=site, head=self.head)


class Numbers(HeadsPanel):
    """A row of numbers for each head."""

    title = "All heads as numbers"
    how_to_read = "A row for each head; a click on it opens the head above. A click on a column’s name sorts."
    sources = (*SUMMARY.values(),)

    @property
    def open_table(self) -> OpenTable:
        """Bars, whose ends depend on the number of keys: its logarithm is the highest entropy."""
        most = {"entropy": math.log(len(self.keys)) or 1.0, "distance": len(self.keys) - 1.0 or 1.0}
        digits = {"entropy": "%.2f", "distance": "%.1f"}
        columns: dict[str, Any] = {
            name: st.column_config.ProgressColumn(
                format=digits.get(name, "%.0f%%"), min_value=0, max_value=most.get(name, 100), width=66, help=text
            )
            for name, text in MEANING.items()
        }
        return OpenTable(
            columns,
            row=self.layer * self.model.num_heads + self.head,
            choose=lambda row: lock(*divmod(row, self.model.num_heads)),
            not_on_phones=("distance",),
        )

    def sentence(self) -> str:
        """Which heads spread their weight the least and the most."""
        table = self.table()
        entropies, names = table["entropy"].to_numpy(), table.index
        least, most = int(entropies.argmin()), int(entropies.argmax())
        visible = self.visible_keys[: self.read]
        even = float(np.log(visible[visible > 0]).mean()) if (visible > 0).any() else 0.0
        over = "the keys that each row may see"
        if not self.attention.shares_out_1:
            return NO_SHARES
        if self.model.array:  # whose mask nobody knows
            over = "the keys up to each row’s own" if self.model.array.is_causal else "all keys"
        return (
            f"By entropy, {names[least]} spreads its weight the least, {entropies[least]:.2f} nats, and {names[most]} "
            f"the most, {entropies[most]:.2f} nats; spread evenly over {over}, it would be {even:.2f} nats on average."
        )


def lock(layer: int, head: int) -> None:
    """Lock a head that was clicked; layer and head from 0."""
    controls.change(PREFIX, layer=layer + 1, head=head + 1)
