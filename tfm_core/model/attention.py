"""Multi-head attention: the module that composes the maths of `scaled_dot_product`, and records every step of it.

Vaswani et al. 2017, section 3.2.2. Below it other attentions with the same weights: each lets a query see less, or
never writes the matrix of pairs. `ATTENTION` at the foot of the file lists them all. To add one, write its class, with
what it changes of `MultiHeadAttention`, and enter it there.
"""

import math
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.masks.basic import combine_masks
from tfm_core.masks.patterns import strided_mask, window_mask
from tfm_core.model.attention_inputs import check_inputs
from tfm_core.model.linear_attention import causal_and_visible, linear_attention, linear_attention_weights
from tfm_core.model.recording import Tapped
from tfm_core.model.scaled_dot_product import (
    attended_alone,
    attention_scores,
    attention_weights,
    fused_attention,
    gathered_alone,
    mask_scores,
)
from tfm_core.model.stored import Stored
from tfm_core.model.unfilled import Linear
from tfm_core.model.weights_in_parts import is_faster_written
from tfm_core.positional.schemes import Positional


class MultiHeadAttention(Tapped):
    """Several attentions side by side, each in its own slice of d_model. Vaswani et al. 2017, section 3.2.2.

    With fewer key-value heads than heads, `num_heads / num_kv_heads` heads in a row look at the same keys and gather
    the same values: grouped-query attention, Ainslie et al. 2023; with a single one multi-query attention, Shazeer
    2019.

    Records `query` (batch, head, seq, head_dim); `key`, `value` (batch, kv_head, seq, head_dim), kv_head 0 to
    num_kv_heads - 1; `rotated_query`, `rotated_key` of the same shapes under rope, and `position_bias` (head, query,
    key) under alibi and t5; `mask` (broadcasts to the shape of the scores; all True where there is none); `scores`,
    `masked_scores`, `weights` (batch, head, query, key); `head_output` (batch, head, query, head_dim); `output` (batch,
    query, d_model). With a cache, `query`, `key` and `value` are those of the new tokens, and the key axis of the
    others is that of the stored and the new keys. Unless somebody listens to scores or weights, torch's fused kernel
    works where it is faster.

    Args:
        d_model: width of the inputs and of the output.
        num_heads: divides d_model; each head is head_dim = d_model / num_heads wide.
        num_kv_heads: how many heads keys and values have; divides num_heads, and 0 means as many.
        qkv_bias: whether the projections of query, key and value have a bias.
        output_bias: whether the projection of the output has one.
        dropout: share of the weights set to zero while training, after they are recorded.

    Raises:
        ValueError: if num_heads does not divide d_model, or num_kv_heads does not divide num_heads.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2))
        >>> attention = model.stack.layers[0].self_attention
        >>> type(attention).__name__
        'MultiHeadAttention'
        >>> attention(torch.ones(1, 3, 8)).shape  # (batch, query, d_model)
        torch.Size([1, 3, 8])
    """

    about: ClassVar[str] = "Full: a query sees every key that the mask leaves it."
    order: ClassVar[str] = "n² d"  # how its multiply-adds grow with n tokens, d = d_model
    has_scores: ClassVar[bool] = True  # whether there are scores to which a positional scheme can add a bias
    writes_scores: ClassVar[bool] = True  # whether they are in memory, all at a time
    has_cache: ClassVar[bool] = True  # whether what was stored of earlier tokens stays right when others follow

    @staticmethod
    def pattern(query_len: int, key_len: int) -> Tensor | None:
        """The pairs that this kind of attention has at all, boolean (query, key); None for all pairs."""
        return None

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int = 0,
        qkv_bias: bool = True,
        output_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if d_model < 1 or num_heads < 1 or d_model % num_heads:
            raise ValueError(f"expected num_heads that divides d_model={d_model}, both at least 1; got {num_heads}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 to below 1, got {dropout}")
        num_kv_heads = num_kv_heads or num_heads
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads: expected a divisor of num_heads={num_heads}, got {num_kv_heads}")
        self.d_model, self.num_heads, self.num_kv_heads, self.dropout = d_model, num_heads, num_kv_heads, dropout
        of_keys = num_kv_heads * (d_model // num_heads)
        self.query_projection = Linear(d_model, d_model, bias=qkv_bias)
        self.key_projection = Linear(d_model, of_keys, bias=qkv_bias)
        self.value_projection = Linear(d_model, of_keys, bias=qkv_bias)
        self.output_projection = Linear(d_model, d_model, bias=output_bias)

    @property
    def shape(self) -> dict[str, Any]:
        """The arguments that make another attention with places for the same weights."""
        return {
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "num_kv_heads": self.num_kv_heads,
            "qkv_bias": self.query_projection.bias is not None,
            "output_bias": self.output_projection.bias is not None,
        }

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        positional: Positional | None = None,
        stored: Stored | None = None,
    ) -> Tensor:
        """What each query gathered, (batch, query, d_model).

        Args:
            query: (batch, query, d_model).
            key: (batch, key, d_model), where to look; `query` by default, which is self-attention.
            value: (batch, key, d_model), what to gather; `key` by default.
            mask: boolean, True = may attend, broadcasts to (batch, head, query, key).
            positional: a scheme that acts inside the attention; self-attention only.
            stored: keys and values of earlier tokens, to which those of `key` and `value` are added, and which count
                as the first keys; self-attention only.

        Raises:
            ValueError: for inputs that do not fit together, or a mask of the wrong shape or dtype; for stored keys
                where this kind of attention has no cache.
        """
        key = query if key is None else key
        value = key if value is None else value
        start = 0 if stored is None else stored.length
        check_inputs(query, key, value, mask, d_model=self.d_model, num_heads=self.num_heads, start=start)
        if start and not self.has_cache:
            raise ValueError(f"{type(self).__name__}: expected no stored keys, as it has no cache; got {start}")
        mask = self._limited(mask, query.shape[1], start + key.shape[1], query.device)

        q = self.tap("query", self._split(self.query_projection(query), self.num_heads))
        k = self.tap("key", self._split(self.key_projection(key), self.num_kv_heads))
        v = self.tap("value", self._split(self.value_projection(value), self.num_kv_heads))
        q, k, bias = self._place(q, k, positional, start)
        if stored is not None:
            k, v = stored.append(k, v)
        if self.wanted("mask"):
            everything = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
            mask = self.tap("mask", everything if mask is None else mask)
        k, v = for_each_head(k, self.num_heads), for_each_head(v, self.num_heads)
        heads = self.tap("head_output", self._attend(q, k, v, mask, bias))
        merged = heads.transpose(1, 2).flatten(2)  # (batch, query, head, head_dim) -> (batch, query, d_model)
        return self.tap("output", self.output_projection(merged))

    def _limited(self, mask: Tensor | None, query_len: int, key_len: int, device: torch.device) -> Tensor | None:
        """What the mask and this kind of attention both allow."""
        pattern = self.pattern(query_len, key_len)
        return mask if pattern is None else combine_masks(mask, pattern.to(device))

    def _place(
        self, q: Tensor, k: Tensor, positional: Positional | None, start: int
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Let the positional scheme act: turned queries and keys, and the bias of the scores."""
        if positional is None:
            return q, k, None
        turned_q, turned_k = positional.rotate(q, start), positional.rotate(k, start)
        if turned_q is not None and turned_k is not None:
            q, k = self.tap("rotated_query", turned_q), self.tap("rotated_key", turned_k)
        bias = positional.bias(q.shape[-2], start + k.shape[-2], q.dtype)
        return q, k, None if bias is None else self.tap("position_bias", bias.to(q))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        written = not torch.is_grad_enabled() and not dropout and q.is_cpu and is_faster_written(q, k)
        if self.wanted("scores", "masked_scores"):
            scores = self.tap("scores", attention_scores(q, k, bias=bias))
            masked = self.tap("masked_scores", mask_scores(scores, mask))
            weights = self.tap("weights", attention_weights(masked, mask))
        elif self.wanted("weights") or written:
            gathered, computed = attended_alone(q, k, v, mask, bias=bias)
            weights = self.tap("weights", computed)
            if weights is computed and not dropout:  # nobody has changed them
                return gathered
        else:
            return gathered_alone(q, k, v, mask, bias, dropout)
        return (F.dropout(weights, dropout) if dropout else weights) @ v

    def _split(self, x: Tensor, heads: int) -> Tensor:
        """(batch, seq, heads * head_dim) -> (batch, head, seq, head_dim)."""
        batch, seq, _ = x.shape
        return x.view(batch, seq, heads, -1).transpose(1, 2)


def for_each_head(x: Tensor, num_heads: int) -> Tensor:
    """Keys or values of each head, (batch, head, seq, head_dim), from those that heads share, (batch, kv_head, ...).

    Of grouped-query attention; head h has those of kv_head h // (num_heads / num_kv_heads). Ainslie et al. 2023.
    """
    return x if x.shape[1] == num_heads else x.repeat_interleave(num_heads // x.shape[1], 1)


def span_of(length: int) -> int:
    """How far the windows and strides here reach in a text of `length` tokens: sqrt(length), rounded, at least 1.

    With a span of sqrt(n) about n sqrt(n) pairs are left. Child et al. 2019 (Sparse Transformers), section 4.2, choose
    a stride close to it.
    """
    return max(1, round(math.sqrt(length)))


class WindowAttention(MultiHeadAttention):
    """Sliding window attention: only keys fewer than `span_of(n)` tokens away. Beltagy et al. 2020, section 3.1.

    The window is a mask on the full matrix, as here it is for reading and not for speed.
    """

    order = "n√n d"
    about = "Sliding window: a query sees only keys fewer than √n tokens away, √n rounded."
    has_cache = False  # with each token the span grows, and with it what earlier tokens have gathered

    @staticmethod
    def pattern(query_len: int, key_len: int) -> Tensor:
        """`window_mask` with a window of `span_of(key_len)`."""
        return window_mask(query_len, key_len, window=span_of(key_len))


class StridedAttention(MultiHeadAttention):
    """Strided attention: near keys, and every `span_of(n)`-th further away. Child et al. 2019, section 4.3.

    The stride is a mask on the full matrix, as here it is for reading and not for speed.
    """

    order = "n√n d"
    about = "Strided: a query sees keys fewer than √n tokens away, and every √n-th token beyond; √n rounded."
    has_cache = False  # with each token the span grows, and with it what earlier tokens have gathered

    @staticmethod
    def pattern(query_len: int, key_len: int) -> Tensor:
        """`strided_mask` with a stride of `span_of(key_len)`."""
        return strided_mask(query_len, key_len, stride=span_of(key_len))


class LinearAttention(MultiHeadAttention):
    """`linear_attention` in place of the softmax: no scores, and nothing that grows with n². Katharopoulos et al. 2020.

    Records no `scores` and no `masked_scores`; `weights` are those that it implies. It knows of masks only what its
    sums over keys can obey: keys that nobody sees, and causality. Dropout has no weights to act on. Under rope it is
    the turned queries and keys whose features are taken, so that their product depends on more than the distance.

    Raises:
        ValueError: for any other mask, and for a positional scheme that adds a bias to the scores.
    """

    about = "Linear: the softmax is replaced by a product of features, elu(x) + 1, so that no matrix is needed."
    order = "n d dₖ"
    has_scores = writes_scores = False
    has_cache = False  # its cache would be two sums, and no keys: equation 18

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        if bias is not None:
            raise ValueError("linear attention: expected a positional scheme without a bias of the scores, got a bias")
        causal, visible = causal_and_visible(mask, q.shape[-2], k.shape[-2])
        if self.wanted("weights"):
            self.tap("weights", linear_attention_weights(q, k, causal=causal, visible=visible))
        return linear_attention(q, k, v, causal=causal, visible=visible)


class FusedAttention(MultiHeadAttention):
    """Full attention by torch's fused kernel, always: the same output to rounding, and no weights in memory.

    Dao et al. 2022, "FlashAttention". Scores and weights are computed beside it only while somebody listens to them.
    """

    about = "Fused: full attention, computed tile by tile by torch’s kernel, which never writes the matrix down."
    writes_scores = False

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        if self.wanted("scores", "masked_scores", "weights"):
            super()._attend(q, k, v, mask, bias)  # for the record: what the heads gather comes from the kernel
        return fused_attention(q, k, v, mask, bias, self.dropout if self.training else 0.0)


ATTENTION: dict[str, type[MultiHeadAttention]] = {
    "full": MultiHeadAttention,
    "window": WindowAttention,
    "strided": StridedAttention,
    "linear": LinearAttention,
    "fused": FusedAttention,
}
"""Name -> a kind of self-attention, each a `MultiHeadAttention`.

Full: Vaswani et al. 2017, equation 1. Window: Beltagy et al. 2020, section 3.1. Strided: Child et al. 2019, section
4.3. Linear: Katharopoulos et al. 2020, equation 7. Fused: Dao et al. 2022, as F.scaled_dot_product_attention.

Examples:
    >>> from tfm_core import ATTENTION
    >>> list(ATTENTION)
    ['full', 'window', 'strided', 'linear', 'fused']
    >>> ATTENTION["linear"].has_scores
    False
"""
