"""One attention from the inside: what it read, what each head made of it, by the library's own functions.

A pass keeps what each attention of the model read; the one that is looked at runs again, alone. What is recorded of it
grows with the number of tokens alone; the matrices of query x key are computed when they are looked at, one head at a
time: 16 heads of 1,024 tokens would be 67 MB each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import (
    MultiHeadAttention,
    Positional,
    Tokens,
    TransformerLayer,
    attention_weights,
    mask_scores,
    recording,
)
from tfm_core.model.attention import for_each_head
from tfm_core.model.normalization import Norm
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes, places
from tfm_ui.live.cache import cached
from tfm_ui.live.origins import Origin
from tfm_ui.live.places import tokens_of
from tfm_ui.pictures.heatmaps import numbered
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_labels

# Of a map of weights: title, noun and role of its rows and of its columns, and what a click on a cell sets.
ROWS, COLUMNS = ("query (row): looks", "query", "query"), ("key (column): is looked at", "key", "key")
EMBEDDED = ("embedding", "token_types", "position", "embedding_norm")  # what the first layer's input is made of
ASKS = ("attention_query", "attention_key")


@dataclass(frozen=True)
class Inside:
    """One attention in one pass, without the batch axis.

    Attributes:
        module: the attention itself, with its projections.
        norm: what normed the residual stream for it; None in post-norm.
        residual: (query, d_model), the residual stream before it.
        input: (query, d_model), what the queries were made from: the residual stream, in pre-norm normed.
        memory: (key, d_model), what keys and values were made from; in self-attention `input` itself.
        visible: boolean (query, key): True where the mask lets look; alike in all heads.
        positional: the scheme that acts in this attention, if one may.
        recorded: `query`, `key` and `value` (head, seq, head_dim); `rotated_query` and `rotated_key`, where the scheme
            turns them; `head_output` and `output`; before the first layer those of `EMBEDDED` that the model has,
            (query, d_model). Keys and values are there for each head, also where heads share them.
        scales_embeddings: whether the model multiplies its embeddings by √d_model.
    """

    module: MultiHeadAttention
    norm: Norm | None
    residual: Tensor
    input: Tensor
    memory: Tensor
    visible: Tensor
    positional: Positional | None
    recorded: Mapping[str, Tensor]
    scales_embeddings: bool = True

    @property
    def query(self) -> Tensor:
        """(head, query, head_dim), as they meet the keys: turned, where the positional scheme turns them."""
        return self.recorded.get("rotated_query", self.recorded["query"])

    @property
    def key(self) -> Tensor:
        """(head, key, head_dim), likewise."""
        return self.recorded.get("rotated_key", self.recorded["key"])

    @property
    def value(self) -> Tensor:
        """(head, key, head_dim)."""
        return self.recorded["value"]

    @property
    def origin(self) -> Origin:
        """What the scores are made of."""
        return Origin(self.query[None], self.key[None], self.positional)

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return self.module.num_heads

    @cached_property
    def head_dim(self) -> int:
        """Width of a head, d_k."""
        return self.module.d_model // self.module.num_heads

    def weights(self, head: int) -> Tensor:
        """(query, key), as the model computed them."""
        return attention_weights(mask_scores(self.origin.scores(head), self.visible), self.visible)

    def projection(self, role: str) -> nn.Linear:
        """The projection to the "query", "key" or "value"."""
        module = self.module.get_submodule(f"{role}_projection")
        assert isinstance(module, nn.Linear)
        return module

    def first_row(self, role: str, head: int) -> int:
        """The first row of a projection's weight that makes this head's "query", "key" or "value"."""
        shared = 1 if role == "query" else self.module.num_heads // self.module.num_kv_heads
        return head // shared * self.head_dim

    def sharing(self, head: int) -> list[int]:
        """The heads that have this one's keys and values, itself among them, from 0: grouped-query attention."""
        group = self.module.num_heads // self.module.num_kv_heads
        first = head - head % group
        return list(range(first, first + group))

    def output_weight(self, head: int) -> Tensor:
        """(head_dim, d_model), the rows of W_O that this head is multiplied with: head_output @ this is its share."""
        weight = self.module.output_projection.weight.detach()
        return weight[:, head * self.head_dim : (head + 1) * self.head_dim].mT


@cached()
def inside(model: ModelState, kind: str, layer: int) -> Inside:
    """One attention, run on what it read in a pass of the model. The result is shared: read it, never write into it.

    Args:
        model: the model, and the texts that it reads.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    stream, place = passes.run(model).stream, places.place(model, kind).replace("{layer}", str(layer))
    path, _, name = place.removesuffix(".{what}").rpartition(".")
    block = passes.modules(model).get_submodule(path)
    assert isinstance(block, TransformerLayer)
    module, norm = block.get_submodule(name), block.get_submodule(f"{name}_norm")
    assert isinstance(module, MultiHeadAttention)
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    residual, positional = stream[place.format(what="residual_before")], passes.scheme(model, kind)
    visible = torch.from_numpy(passes.run(model).attention[kind].visible)
    with torch.no_grad(), recording(["*query", "*key", "*value", "*output"]) as trace:
        read = norm(residual) if block.pre_norm else residual
        memory = stream[passes.memory_site(model)] if kind == "cross" else read
        module(read, memory, mask=visible, positional=positional)
    recorded = {site.rpartition(".")[2]: tensor[0] for site, tensor in trace.items()}
    for shared in ("key", "rotated_key", "value"):  # each head has its own here, also where heads share them
        if shared in recorded:
            recorded[shared] = for_each_head(recorded[shared][None], module.num_heads)[0]
    if layer == 0 and kind != "cross":
        start = passes.stack_of(model, kind)
        before = {what: stream[start + what] for what in EMBEDDED if start + what in stream}
        recorded |= {what: x[0] if x.dim() == 3 else x for what, x in before.items()}  # positions have no batch axis
    return Inside(
        module=module,
        norm=norm if block.pre_norm else None,
        residual=residual[0],
        input=read[0],
        memory=memory[0],
        visible=visible,
        positional=positional,
        recorded=recorded,
        scales_embeddings=model.config.scale_embeddings,
    )


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
