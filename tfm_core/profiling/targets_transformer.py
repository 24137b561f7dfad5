"""The transformer stacks that can be measured: our layers, whatever does the attention in them, and torch's own."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tfm_core.attention import MultiHeadAttention
from tfm_core.blocks import TransformerLayer
from tfm_core.encoder_twin import as_torch_encoder
from tfm_core.profiling.drawn import drawn
from tfm_core.profiling.plan import Size
from tfm_core.recording import name_sites, recording
from tfm_core.torch_twin import as_torch


class Stack(nn.Module):
    """Our layers and the final norm, without embedding and logits: (batch, seq, d_model) in and out.

    Args:
        size: its numbers; `batch` is of no account here.
        keeps_weights: whether every layer's attention weights are recorded, and held until the pass has ended.
    """

    mask: Tensor | None

    def __init__(self, size: Size, *, keeps_weights: bool = False) -> None:
        super().__init__()
        self.keeps_weights = keeps_weights
        self.layers = nn.ModuleList(
            TransformerLayer(size.d_model, size.num_heads, size.feed_forward_dim) for _ in range(size.num_layers)
        )
        self.final_norm = nn.LayerNorm(size.d_model)
        self.register_buffer("mask", None)
        name_sites(self)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        if not self.keeps_weights:
            return self._layers(x)
        with recording("*.weights"):
            return self._layers(x)

    def _layers(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, self.mask)
        x = self.final_norm(x)
        return x


class FusedAttention(MultiHeadAttention):
    """Ours, by F.scaled_dot_product_attention at any length.

    Args:
        d_model: width of the inputs and of the output.
        num_heads: divides d_model.
        backend: the one of torch's kernels that is to do it; its own choice by default.
    """

    def __init__(self, d_model: int, num_heads: int, backend: SDPBackend | None = None) -> None:
        super().__init__(d_model, num_heads)
        self.backend = backend

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        if self.backend is None:
            return F.scaled_dot_product_attention(q, k, v)
        with sdpa_kernel(self.backend):
            return F.scaled_dot_product_attention(q, k, v)


class TorchAttention(nn.Module):
    """nn.MultiheadAttention with the weights of ours, called as our layer calls."""

    def __init__(self, ours: MultiHeadAttention, *, keeps_weights: bool) -> None:
        super().__init__()
        self.attention, self.keeps_weights = as_torch(ours), keeps_weights

    def forward(self, x: Tensor, mask: Tensor | None = None, **_: object) -> Tensor:
        """(batch, seq, d_model) in and out; it is asked for every head's weights, which are dropped here."""
        output: Tensor = self.attention(x, x, x, need_weights=self.keeps_weights, average_attn_weights=False)[0]
        return output


def ours(size: Size, seed: int = 0, *, keeps_weights: bool = False) -> Stack:
    """This library's layers."""
    return drawn(lambda: Stack(size, keeps_weights=keeps_weights), seed)


def masked(size: Size, seed: int = 0, *, mask: Callable[[int], Tensor]) -> Stack:
    """The same under a mask, made once from the length."""
    stack = ours(size, seed)
    stack.mask = mask(size.seq_len)
    return stack


def fused(size: Size, seed: int = 0, *, backend: SDPBackend | None = None) -> Stack:
    """Our layers around torch's fused kernel."""
    return drawn(lambda: _with_attention(Stack(size), lambda a: FusedAttention(a.d_model, a.num_heads, backend)), seed)


def torch_attention(size: Size, seed: int = 0, *, keeps_weights: bool = False) -> Stack:
    """Our layers around nn.MultiheadAttention."""
    return _with_attention(ours(size, seed), lambda a: TorchAttention(a, keeps_weights=keeps_weights))


def torch_encoder(size: Size, seed: int = 0) -> nn.TransformerEncoder:
    """nn.TransformerEncoder with the weights of ours."""
    stack = ours(size, seed)
    return as_torch_encoder([layer for layer in stack.layers if isinstance(layer, TransformerLayer)], stack.final_norm)


def _with_attention(stack: Stack, change: Callable[[MultiHeadAttention], nn.Module]) -> Stack:
    for layer in stack.layers:
        assert isinstance(layer.self_attention, MultiHeadAttention)
        layer.self_attention = change(layer.self_attention)
    name_sites(stack)
    return stack
