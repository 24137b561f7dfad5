"""One attention from the inside: what it read, what each head made of it, by the library's own functions.

What is recorded grows with the number of tokens alone; the matrices of query x key are computed when they are looked
at, one head at a time: 16 heads of 1,024 tokens would be 67 MB each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from tfm_core import MultiHeadAttention, Positional, attention_scores, attention_weights, mask_scores

SITES = ("query", "key", "value", "rotated_query", "rotated_key", "position_bias", "head_output", "output")


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
        recorded: the tensors of SITES, as far as this attention has them: (head, seq, head_dim) and the like; before
            the first layer `embedding` and `position` (query, d_model) too.
    """

    module: MultiHeadAttention
    norm: nn.LayerNorm | None
    residual: Tensor
    input: Tensor
    memory: Tensor
    visible: Tensor
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
    def bias(self) -> Tensor | None:
        """(head, query, key), what the positional scheme adds to the scores, if it adds something."""
        return self.recorded.get("position_bias")

    @cached_property
    def head_dim(self) -> int:
        """Width of a head, d_k."""
        return self.module.d_model // self.module.num_heads

    def scores(self, head: int, scale: float | None = None, rows: slice = slice(None)) -> Tensor:
        """(rows, key), before the mask; `scale` as in `attention_scores`."""
        one = slice(head, head + 1)  # a batch of one: of single matrices torch may compute another last digit
        bias = None if self.bias is None else self.bias[one, rows]
        return attention_scores(self.query[one, rows], self.key[one], scale=scale, bias=bias)[0]

    def weights(self, head: int) -> Tensor:
        """(query, key), as the model computed them."""
        return attention_weights(mask_scores(self.scores(head), self.visible), self.visible)

    def output_weight(self, head: int) -> Tensor:
        """(head_dim, d_model), the rows of W_O that this head is multiplied with: head_output @ this is its share."""
        weight = self.module.output_projection.weight.detach()
        return weight[:, head * self.head_dim : (head + 1) * self.head_dim].mT


def inside(block: nn.Module, name: str, trace: Mapping[str, Tensor], place: str, memory: Tensor | None) -> Inside:
    """Put together from a recording of the `sites`.

    Args:
        block: the layer that the attention is part of.
        name: of the attention in it.
        trace: of one pass.
        place: of this attention in the recording, with `{what}` to be put in.
        memory: (1, key, d_model), what cross-attention looks at.
    """
    found = {name: trace[site] for name in SITES if (site := place.format(what=name)) in trace}
    tensors = {name: tensor if name == "position_bias" else tensor[0] for name, tensor in found.items()}
    start, _, layer = place.partition("layers.")
    if layer.startswith("0.self_attention"):
        tensors["embedding"] = trace[f"{start}embedding"][0]
        if f"{start}position" in trace:
            tensors["position"] = trace[f"{start}position"]
    residual, normed = trace[place.format(what="residual_before")][0], trace.get(place.format(what="normed"))
    read = residual if normed is None else normed[0]
    shape = (1, 1, tensors["query"].shape[-2], tensors["key"].shape[-2])
    module, norm = block.get_submodule(name), block.get_submodule(f"{name}_norm")
    assert isinstance(module, MultiHeadAttention)
    assert isinstance(norm, nn.LayerNorm)
    return Inside(
        module=module,
        norm=None if normed is None else norm,
        residual=residual,
        input=read,
        memory=read if memory is None else memory[0],
        visible=torch.broadcast_to(trace[place.format(what="mask")], shape)[0, 0],
        recorded=tensors,
    )


def sites(place: str, scheme: type[Positional], *, pre_norm: bool) -> list[str]:
    """The patterns of what an `Inside` is made of.

    Args:
        place: of the attention in the recording, with `{what}` to be put in.
        scheme: the positional scheme, as far as it may act in this attention.
        pre_norm: whether the model norms before its sub-layers.
    """
    names = ["*query", "*key", "value", "mask", "*output", "residual_before"]
    names += ["normed"] * pre_norm + ["position_bias"] * ("bias_at" in scheme.enters())
    start, _, _ = place.partition("layers.")
    added = ["position"] * ("encode" in scheme.enters())
    return [place.format(what=name) for name in names] + [f"{start}{name}" for name in ("embedding", *added)]
