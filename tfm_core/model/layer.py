"""One layer of a transformer: attention and the feed-forward network, each with its norm and residual connection."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.model.attention import ATTENTION
from tfm_core.model.choices import check_choice
from tfm_core.model.feed_forward import FeedForward
from tfm_core.model.kind import NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.model.recording import Tapped
from tfm_core.model.stored import Stored
from tfm_core.positional.schemes import Positional

Function = Callable[[Tensor], Tensor]


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


@dataclass(frozen=True)
class Wiring:
    """What stands around a sub-layer.

    Attributes:
        norm_before: whether it reads what its norm makes of x, and not x itself.
        adds: whether its output is added to x, and does not replace it.
        norm_after: whether its norm acts on what comes out.
    """

    norm_before: bool
    adds: bool
    norm_after: bool

    def read(self, x: Tensor, norm: Function) -> Tensor:
        """What the sub-layer reads of x."""
        return norm(x) if self.norm_before else x

    def write(self, x: Tensor, output: Tensor, norm: Function) -> Tensor:
        """The residual stream after the sub-layer: x and its output, joined and normalised as wired."""
        x = x + output if self.adds else output
        return norm(x) if self.norm_after else x


WIRINGS = {
    "pre-norm": Wiring(norm_before=True, adds=True, norm_after=False),
    "post-norm": Wiring(norm_before=False, adds=True, norm_after=True),
    "no residuals": Wiring(norm_before=True, adds=False, norm_after=False),
    "no norm": Wiring(norm_before=False, adds=True, norm_after=False),
}
"""Name -> what stands around a sub-layer f: norms before or after it, and whether its output is added.

Pre-norm: Xiong et al. 2020; post-norm: Vaswani et al. 2017, section 3.1; and each without residuals or without norm.

Examples:
    >>> from tfm_core import WIRINGS
    >>> list(WIRINGS)
    ['pre-norm', 'post-norm', 'no residuals', 'no norm']
"""


def through_wired(
    layer: TransformerLayer,
    wired: Sequence[Wiring],
    streams: Sequence[Tensor],
    mask: Tensor | None = None,
    positional: Positional | None = None,
) -> list[Tensor]:
    """What a layer makes of each wiring's stream, (batch, seq, d_model); its own norm, pre or post, has no effect."""

    def past(sub_layer: Function, norm: Function, streams: Sequence[Tensor]) -> list[Tensor]:
        # What the sub-layer reads under each wiring is one batch: it is called once for all of them.
        read = torch.cat([wiring.read(x, norm) for wiring, x in zip(wired, streams, strict=True)])
        outputs = sub_layer(read).chunk(len(wired))
        return [wiring.write(x, y, norm) for wiring, x, y in zip(wired, streams, outputs, strict=True)]

    attention = partial(layer.self_attention, mask=mask, positional=positional)
    between = past(attention, layer.self_attention_norm, streams)
    return past(layer.feed_forward, layer.feed_forward_norm, between)
