"""One layer of a transformer: attention and the feed-forward network, each with its norm and residual connection."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from tfm_core.model.attention import ATTENTION
from tfm_core.model.choices import check_choice
from tfm_core.model.feed_forward import FeedForward
from tfm_core.model.kind import NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.model.recording import Tapped
from tfm_core.model.stored import Stored
from tfm_core.positional.schemes import Positional


class TransformerLayer(Tapped):
    """Self-attention, in decoders of an encoder-decoder cross-attention, and a feed-forward network.

    Each of these sub-layers reads the residual stream and adds to it. Pre-norm: x + f(norm(x)), Xiong et al.
    2020; post-norm: norm(x + f(x)), Vaswani et al. 2017, section 3.1. Records for each sub-layer
    `residual_before`, `normed` (pre-norm only) and `residual_after`, all (batch, seq, d_model).

    Args:
        d_model, num_heads, d_ff: as in `TransformerConfig`, like all that is not told here.
        cross_attention: whether it looks at a memory, too.

    Raises:
        ValueError: naming what was expected and what came.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, causal_mask
        >>> layer = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).stack.layers[0]
        >>> layer(torch.ones(1, 3, 8), causal_mask(3)).shape  # (batch, seq, d_model)
        torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        norm: str = "pre",
        activation: str = "gelu",
        attention: str = "full",
        dropout: float = 0.0,
        cross_attention: bool = False,
        normalization: str = "layer",
        norm_eps: float = 1e-5,
        num_kv_heads: int = 0,
        qkv_bias: bool = True,
        output_bias: bool = True,
        feed_forward_bias: bool = True,
    ) -> None:
        super().__init__()
        check_choice("norm", norm, NORMS)
        check_choice("attention", attention, ATTENTION)
        check_choice("normalization", normalization, NORMALIZATIONS)
        self.pre_norm = norm == "pre"
        new_norm = partial(NORMALIZATIONS[normalization], d_model, eps=norm_eps)
        heads: dict[str, Any] = {
            "num_kv_heads": num_kv_heads,
            "qkv_bias": qkv_bias,
            "output_bias": output_bias,
            "dropout": dropout,
        }
        self.self_attention_norm = new_norm()
        self.self_attention = ATTENTION[attention](d_model, num_heads, **heads)
        self.looks_across = cross_attention
        if cross_attention:
            self.cross_attention_norm = new_norm()
            self.cross_attention = ATTENTION["full"](d_model, num_heads, **heads)
        self.feed_forward_norm = new_norm()
        self.feed_forward = FeedForward(d_model, d_ff, activation=activation, bias=feed_forward_bias, dropout=dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        positional: Positional | None = None,
        stored: Stored | None = None,
    ) -> Tensor:
        """(batch, seq, d_model) in and out.

        Args:
            x: the residual stream, of the new tokens where there are stored ones.
            mask: of the self-attention, True = may attend.
            memory: (batch, source, d_model), what cross-attention looks at.
            memory_mask: of the cross-attention.
            positional: the scheme that acts inside the self-attention.
            stored: keys and values of earlier tokens; those of x are added.

        Raises:
            ValueError: for a memory without cross-attention, or cross-attention without a memory.
        """
        if self.looks_across != (memory is not None):
            expected = "a memory to look at" if self.looks_across else "no memory, as this layer has no cross-attention"
            raise ValueError(f"expected {expected}, got {None if memory is None else tuple(memory.shape)}")
        look_around = partial(self.self_attention, mask=mask, positional=positional, stored=stored)
        x = self._add("self_attention", self.self_attention_norm, x, look_around)
        if memory is not None:
            look_across = partial(self.cross_attention, key=memory, mask=memory_mask)
            x = self._add("cross_attention", self.cross_attention_norm, x, look_across)
        return self._add("feed_forward", self.feed_forward_norm, x, self.feed_forward)

    def _add(self, name: str, norm: nn.Module, x: Tensor, sub_layer: Callable[[Tensor], Tensor]) -> Tensor:
        """The residual connection around one sub-layer."""
        x = self.tap(f"{name}.residual_before", x)
        if self.pre_norm:
            x = x + self._drop(sub_layer(self.tap(f"{name}.normed", norm(x))))
        else:
            x = norm(x + self._drop(sub_layer(x)))
        return self.tap(f"{name}.residual_after", x)

    def _drop(self, x: Tensor) -> Tensor:
        """Dropout while training; otherwise not even a module is called, which would slow a small model down."""
        return self.dropout(x) if self.training else x
