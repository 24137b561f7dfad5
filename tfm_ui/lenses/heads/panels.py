"""The panels of the Heads lens: all heads as thumbnails, one head large, and all of them as numbers."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
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
from tfm_ui.live.all_heads import AllHeads
from tfm_ui.live.array_recipes import of_file
from tfm_ui.live.attention import SUMMARY, Attention, Summary, summarise
from tfm_ui.live.passes import run, summary
from tfm_ui.live.places import kind_of, place, tokens_of
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import controls
from tfm_ui.pictures import head_grid, head_map
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.head_grid import GRID
from tfm_ui.pictures.head_map import MAP
from tfm_ui.pictures.panel import OpenTable, Panel, Pick, Source
from tfm_ui.text import formats, token_labels

GIVEN = "the file’s number"  # what a weight is that comes out of a file
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

    @property
    def tensors(self) -> Step:
        return live_steps.heads(self.model, self.kind)

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
    def heads(self) -> AllHeads:
        """The heads over their tokens, and what can be said of them."""
        return AllHeads(self.attention, self.kept, self.queries, self.keys, self.ids, self.same_text)

    @property
    def visible_keys(self) -> NDArray[np.intp]:
        """How many keys each query may see, (query)."""
        return self.heads.visible_keys

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """Layer and head of each head, from 0, layer by layer."""
        return self.heads.places

    def exact(self, layer: int, head: int) -> NDArray[np.float32]:
        """The weights of one head, (query, key), without rows of padding."""
        return self.attention.exact(layer, head)[: self.read]

    def sentence_of(self, layer: int, head: int) -> str:
        """What one head does; layer and head from 0."""
        return self.heads.sentence_of(layer, head)

    @cached_property
    def top(self) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head)."""
        return self.heads.top(self.state.scale)

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
        return self.heads.sentence()

    def picture(self) -> Content:
        """The grid of all heads, with a ring around the locked one, and a sentence for each."""
        return head_grid.content(self.heads, self.top, (self.layer, self.head))


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
    def tensors(self) -> Step:
        return live_steps.attention(self.model, self.kind, self.layer)

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
        names, visible = (self.queries, self.keys), self.attention.visible
        return head_map.content(self.weights, visible, *names, read=self.read, top=top, formula=self.formula)

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
