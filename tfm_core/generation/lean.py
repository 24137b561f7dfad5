"""A decoder's pass over a single new token, by torch's functions alone: what a loop that writes spends its time on.

A small model's numbers for one token are ready in less time than Python needs to walk through its modules, with their
taps for recordings and their checks. So here are the same equations on vectors, W x + b, with the same parameters, and
nothing else (benchmarks/generation.py). Whoever wants to know what a decoder computes reads `Transformer`; whatever
this cannot do is left to it: a recording, dropout, padding.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.model import normalization
from tfm_core.model.attention import ATTENTION, FusedAttention, MultiHeadAttention
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.feed_forward import IN_PLACE
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.recording import is_recorded
from tfm_core.model.transformer import Transformer

KINDS = (MultiHeadAttention, FusedAttention)  # a single query sees all keys, by a softmax
# Positions whose encodings are worked out together. The sines of one take a tenth of the time of its pass; those of all
# of these take hardly longer.
AHEAD = 32


class Map(NamedTuple):
    """W x + b: the parameters of a linear map."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        """(inputs) -> (outputs)."""
        return self.weight.mv(x) if self.bias is None else torch.addmv(self.bias, self.weight, x)


class Norm(NamedTuple):
    """The parameters of a layer norm, or of an RMS norm."""

    weight: Tensor
    bias: Tensor | None
    eps: float
    is_rms: bool

    def __call__(self, x: Tensor) -> Tensor:
        """(d_model) in and out."""
        if self.is_rms:
            return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class LeanDecoder:
    """Passes of a decoder over one token after those in a cache. It holds the model's parameters, and no copies.

    Args:
        model: a decoder, of a kind of attention that has a cache.
    """

    def __init__(self, model: Transformer) -> None:
        self.model, self.config = model, model.config
        stack = model.stack
        self.positional, self.embedding = stack.positional, stack.embedding.weight
        self.layers = [LeanLayer(layer) for layer in stack.layers if isinstance(layer, TransformerLayer)]
        self.final_norm = None if stack.final_norm is None else _norm(stack.final_norm)
        self.unembedding = model.unembedding.weight if self.config.head != "none" else self.embedding
        self.scale = math.sqrt(self.config.d_model) if self.config.scale_embeddings else 1.0
        self.embedding_norm = None if stack.embedding_norm is None else _norm(stack.embedding_norm)
        self.is_known = (
            ATTENTION[self.config.attention] in KINDS
            and self.config.head == "logits"
            and not self.config.num_token_types
            and not self.config.sliding_window
        )
        self._encodings: tuple[int, Tensor | None] = -1, None  # the first of these positions, and theirs (seq, d_model)

    def can(self, token: int, cache: KeyValueCache) -> bool:
        """Whether the pass is one of those that this computes."""
        is_padded = token == self.config.pad_id or cache.visible is not None
        return self.is_known and not (is_padded or self.model.training or is_recorded())

    @torch.no_grad()
    def __call__(self, token: int, cache: KeyValueCache) -> Tensor:
        """Logits (vocab) of the token after this one, which is added to the cache: those of `model`, to rounding."""
        draft, place = cache.copy(), cache.length
        x = self.embedding[token] * self.scale  # (d_model)
        encoding = self._encoding(place)
        if encoding is not None:
            x = x + encoding.to(x)
        if self.embedding_norm is not None:
            x = self.embedding_norm(x)
        bias = self.positional.bias(1, place + 1)  # (head, 1, key), the same in all layers
        bias = None if bias is None else bias.to(x)
        for layer, stored in zip(self.layers, draft.layers, strict=True):
            q, k, v = layer.split(layer.self_attention_norm(x) if layer.pre_norm else x)
            turned_q, turned_k = self.positional.rotate(q, place), self.positional.rotate(k, place)
            if turned_q is not None and turned_k is not None:
                q, k = turned_q, turned_k
            k, v = stored.append(k, v)
            # (1, head, 1, head_dim)
            gathered = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=layer.shares_keys)
            x = x + layer.output(gathered.view(-1))
            if not layer.pre_norm:
                x = layer.self_attention_norm(x)
            x = x + layer.network(layer.feed_forward_norm(x) if layer.pre_norm else x)
            if not layer.pre_norm:
                x = layer.feed_forward_norm(x)
        logits = self.unembedding.mv(x if self.final_norm is None else self.final_norm(x))
        cache.become(draft)
        return logits

    def _encoding(self, place: int) -> Tensor | None:
        """What is added to the embedding of the token at this position, (d_model)."""
        begin = place - place % AHEAD
        if self._encodings[0] != begin:
            room = self.config.max_len - begin if self.positional.ends_at_max_len() else AHEAD
            count = max(place + 1 - begin, min(AHEAD, room))  # beyond the last position the scheme says what is wrong
            self._encodings = begin, self.positional.encode(count, begin)
        table = self._encodings[1]
        return None if table is None else table[place - begin]


class LeanLayer:
    """The parameters of a layer, and its steps on vectors (d_model)."""

    def __init__(self, layer: TransformerLayer) -> None:
        attention, network = layer.self_attention, layer.feed_forward
        self.pre_norm = layer.pre_norm
        self.heads = 1, attention.num_heads, 1, -1
        self.key_heads = 1, attention.num_kv_heads, 1, -1
        self.shares_keys = attention.num_kv_heads < attention.num_heads
        self.self_attention_norm = _norm(layer.self_attention_norm)
        self.query, self.key = _map(attention.query_projection), _map(attention.key_projection)
        self.value, self.output = _map(attention.value_projection), _map(attention.output_projection)
        self.feed_forward_norm = _norm(layer.feed_forward_norm)
        self.wide, self.narrow = _map(network.input_projection), _map(network.output_projection)
        self.gate = None if network.gate_projection is None else _map(network.gate_projection)
        self.activation = IN_PLACE.get(network.activation, network.activation)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, (1, head, 1, head_dim), and key and value, (1, kv_head, 1, head_dim)."""
        return self.query(x).view(self.heads), self.key(x).view(self.key_heads), self.value(x).view(self.key_heads)

    def network(self, x: Tensor) -> Tensor:
        """The output of the feed-forward network."""
        hidden = self.wide(x)  # (d_ff)
        hidden = self.activation(hidden) if self.gate is None else self.activation(self.gate(x)) * hidden
        return self.narrow(hidden)


def _map(linear: nn.Linear) -> Map:
    return Map(linear.weight, linear.bias)


def _norm(norm: normalization.Norm) -> Norm:
    if isinstance(norm, nn.RMSNorm):
        return Norm(norm.weight, None, norm.eps or 0.0, is_rms=True)
    return Norm(norm.weight, norm.bias, norm.eps, is_rms=False)
