"""One attention from the inside: what it read, what each head made of it, by the library's own functions.

A pass keeps what each attention of the model read; the one that is looked at runs again, alone. What is recorded of it
grows with the number of tokens alone; the matrices of query x key are computed when they are looked at, one head at a
time: 16 heads of 1,024 tokens would be 67 MB each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from tfm_core import MultiHeadAttention, Positional, TransformerLayer, attention_weights, mask_scores, recording
from tfm_ui.live.origins import Origin


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
            turns them; `head_output` and `output`; before the first layer `embedding` and `position` (query, d_model).
    """

    module: MultiHeadAttention
    norm: nn.LayerNorm | None
    residual: Tensor
    input: Tensor
    memory: Tensor
    visible: Tensor
    positional: Positional | None
    recorded: Mapping[str, Tensor]

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

    @cached_property
    def head_dim(self) -> int:
        """Width of a head, d_k."""
        return self.module.d_model // self.module.num_heads

    def weights(self, head: int) -> Tensor:
        """(query, key), as the model computed them."""
        return attention_weights(mask_scores(self.origin.scores(head), self.visible), self.visible)

    def output_weight(self, head: int) -> Tensor:
        """(head_dim, d_model), the rows of W_O that this head is multiplied with: head_output @ this is its share."""
        weight = self.module.output_projection.weight.detach()
        return weight[:, head * self.head_dim : (head + 1) * self.head_dim].mT


def look_into(
    block: TransformerLayer,
    name: str,
    residual: Tensor,
    memory: Tensor | None,
    visible: Tensor,
    positional: Positional | None,
    before: Mapping[str, Tensor],
) -> Inside:
    """Run one attention on what it read in a pass of the model.

    Args:
        block: the layer that the attention is part of.
        name: of the attention in it.
        residual: (1, query, d_model), the residual stream before it.
        memory: (1, key, d_model), what cross-attention looks at.
        visible: boolean (query, key).
        positional: the scheme that acts in this attention, if one may.
        before: `embedding` and `position` (query, d_model), as far as this attention is the first to read them.
    """
    module, norm = block.get_submodule(name), block.get_submodule(f"{name}_norm")
    assert isinstance(module, MultiHeadAttention)
    assert isinstance(norm, nn.LayerNorm)
    with torch.no_grad(), recording(["*query", "*key", "*value", "*output"]) as trace:
        read = norm(residual) if block.pre_norm else residual
        looked_at = read if memory is None else memory
        module(read, looked_at, mask=visible, positional=positional)
    recorded = {site.rpartition(".")[2]: tensor[0] for site, tensor in trace.items()}
    return Inside(
        module=module,
        norm=norm if block.pre_norm else None,
        residual=residual[0],
        input=read[0],
        memory=looked_at[0],
        visible=visible,
        positional=positional,
        recorded=recorded | dict(before),
    )
