"""Listings as people write them, each with a mistake: what `tfm_core.checks` is shown on. torch alone."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention without the scale."""
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


class SelfAttention(nn.Module):
    """Multi-head attention whose heads are split without a transpose."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, seq, d_model) in and out."""
        batch, seq, d_model = x.shape
        shape = batch, self.num_heads, seq, d_model // self.num_heads
        query, key, value = (layer(x).reshape(shape) for layer in (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        heads = scores.softmax(dim=-1) @ value
        output: Tensor = self.output(heads.transpose(1, 2).reshape(batch, seq, d_model))
        return output


def positional_encoding(seq_len: int, d_model: int) -> Tensor:
    """Sines and cosines, all sines first."""
    angles = torch.arange(seq_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class LayerNorm(nn.Module):
    """A norm that divides by torch's std."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) in and out."""
        return self.gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps) + self.shift


class RightAttention(nn.Module):
    """Multi-head attention as it should be, for the layers below."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, seq, d_model) in and out."""
        query, key, value = (
            layer(x).view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)
            for layer, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=None if mask is None else mask.bool())
        output: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return output


class EncoderLayer(nn.Module):
    """A post-norm layer whose second residual connection is missing its x."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention = RightAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, seq, d_model) in and out."""
        x = self.norm1(self.attention(x, x, x, mask))
        output: Tensor = self.norm2(self.linear2(self.linear1(x).relu()))
        return output


def causal_mask(n: int) -> Tensor:
    """The diagonal is hidden, too."""
    return torch.tril(torch.ones(n, n), diagonal=-1).bool()


def padding_mask(ids: Tensor) -> Tensor:
    """The padding is hidden on the query's axis."""
    return (ids != 0)[:, None, :, None]


LISTINGS: dict[str, Callable[..., Any]] = {
    "check_attention": attention,
    "check_multi_head_attention": SelfAttention,
    "check_positional": positional_encoding,
    "check_layer_norm": LayerNorm,
    "check_encoder_layer": EncoderLayer,
    "check_causal_mask": causal_mask,
    "check_padding_mask": padding_mask,
}
