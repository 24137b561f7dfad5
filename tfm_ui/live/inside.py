"""One attention from the inside: what it read, what each head made of it, by the library's own functions.

A pass keeps what each attention of the model read; the one that is looked at runs again, alone. What is recorded of it
grows with the number of tokens alone; the matrices of query x key are computed when they are looked at, one head at a
time: 16 heads of 1,024 tokens would be 67 MB each time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from tfm_core.model.attention import ATTENTION, MultiHeadAttention, for_each_head
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import Norm
from tfm_core.model.recording import recording
from tfm_core.model.scaled_dot_product import attention_weights, mask_scores
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import Positional
from tfm_ui.live import streams
from tfm_ui.live.origins import Origin

EMBEDDED = ("embedding", "token_types", "position", "embedding_norm")  # what the first layer's input is made of


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


def of_stream(model: Transformer, stream: Mapping[str, Tensor], visible: Tensor, *, kind: str, layer: int) -> Inside:
    """One attention, run on what it read in a pass of the model.

    Args:
        model: whose attention it is.
        stream: what was recorded of the pass at `streams.stream_sites`, of one sequence.
        visible: boolean (query, key): True where the mask lets look.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    config, place = model.config, streams.kinds(model.config)[kind].replace("{layer}", str(layer))
    path, _, name = place.removesuffix(".{what}").rpartition(".")
    block = streams.modules(model).get_submodule(path)
    assert isinstance(block, TransformerLayer)
    module, norm = block.get_submodule(name), block.get_submodule(f"{name}_norm")
    assert isinstance(module, MultiHeadAttention)
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    residual, positional = stream[place.format(what="residual_before")], streams.scheme(model, kind)
    with torch.no_grad(), recording(["*query", "*key", "*value", "*output"]) as trace:
        read = norm(residual) if block.pre_norm else residual
        memory = stream[streams.memory_site(config)] if kind == "cross" else read
        module(read, memory, mask=visible, positional=positional)
    recorded = {site.rpartition(".")[2]: tensor[0] for site, tensor in trace.items()}
    for shared in ("key", "rotated_key", "value"):  # each head has its own here, also where heads share them
        if shared in recorded:
            recorded[shared] = for_each_head(recorded[shared][None], module.num_heads)[0]
    if layer == 0 and kind != "cross":
        start = streams.stack_of(config, kind)
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
        scales_embeddings=config.scale_embeddings,
    )


def of_model(
    model: Transformer, inputs: Sequence[Tensor], mask: Tensor | None = None, *, kind: str = "self", layer: int = 0
) -> Inside:
    """One attention of a model that reads these tokens.

    Args:
        model: the model, in which dropout is off.
        inputs: token ids (1, seq); of an encoder-decoder those of the source and those of the target.
        mask: as in `model(..., mask=mask)`.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.

    Raises:
        ValueError: for a kind of attention that has no scores, and for a mask that is not the same in all heads.
    """
    if not ATTENTION[model.config.attention].has_scores:
        raise ValueError(f"model: expected a kind of attention that has scores, got {model.config.attention!r}")
    place = streams.kinds(model.config)[kind].replace("{layer}", str(layer))
    masked, before = place.format(what="mask"), place.format(what="residual_before")
    with torch.no_grad(), recording([*streams.stream_sites(model.config), masked]) as trace:
        model.states(*inputs, mask=mask)
    queries = trace[before].shape[1]
    keys = trace[streams.memory_site(model.config)].shape[1] if kind == "cross" else queries
    visible = trace[masked][(None,) * (4 - trace[masked].dim())]  # what broadcasts may lack axes
    heads = visible.expand(1, -1, queries, keys)[0]
    if not bool((heads == heads[:1]).all()):
        raise ValueError(f"mask: expected one that is the same in all heads, got {len(heads)} that differ")
    return of_stream(model, trace, heads[0].contiguous(), kind=kind, layer=layer)
