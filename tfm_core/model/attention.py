"""Multi-head attention: the module that composes the maths of `scaled_dot_product`, and records every step of it.

Vaswani et al. 2017, section 3.2.2.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.masks.basic import check_mask
from tfm_core.model.recording import Tapped
from tfm_core.model.scaled_dot_product import (
    attention_scores,
    attention_weights,
    empty_rows,
    mask_scores,
    weights_alone,
)
from tfm_core.model.weights_in_parts import is_faster_written
from tfm_core.positional.schemes import Positional


class MultiHeadAttention(Tapped):
    """Several attentions side by side, each in its own slice of d_model. Vaswani et al. 2017, section 3.2.2.

    Records `query`, `key`, `value` (batch, head, seq, head_dim); `rotated_query`, `rotated_key` under rope and
    `position_bias` (head, query, key) under alibi and t5; `mask` (broadcasts to the shape of the scores; all True
    where there is none); `scores`, `masked_scores`, `weights` (batch, head,
    query, key); `head_output` (batch, head, query, head_dim); `output` (batch, query, d_model). While nobody
    listens to scores or weights, torch's fused kernel does the work where it is the faster one.

    Args:
        d_model: width of the inputs and of the output.
        num_heads: divides d_model; each head is head_dim = d_model / num_heads wide.
        dropout: share of the weights set to zero while training, after they are recorded.

    Raises:
        ValueError: if num_heads does not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model < 1 or num_heads < 1 or d_model % num_heads:
            raise ValueError(f"expected num_heads that divides d_model={d_model}, both at least 1; got {num_heads}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 to below 1, got {dropout}")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.query_projection = nn.Linear(d_model, d_model)
        self.key_projection = nn.Linear(d_model, d_model)
        self.value_projection = nn.Linear(d_model, d_model)
        self.output_projection = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        positional: Positional | None = None,
    ) -> Tensor:
        """What each query gathered, (batch, query, d_model).

        Args:
            query: (batch, query, d_model).
            key: (batch, key, d_model), where to look; `query` by default, which is self-attention.
            value: (batch, key, d_model), what to gather; `key` by default.
            mask: boolean, True = may attend, broadcasts to (batch, head, query, key).
            positional: a scheme that acts inside the attention; self-attention only.

        Raises:
            ValueError: for inputs that do not fit together, or a mask of the wrong shape or dtype.
        """
        key = query if key is None else key
        value = key if value is None else value
        self._check(query, key, value, mask)

        q = self.tap("query", self._split(self.query_projection(query)))
        k = self.tap("key", self._split(self.key_projection(key)))
        v = self.tap("value", self._split(self.value_projection(value)))
        q, k, bias = self._place(q, k, positional)
        if self.wanted("mask"):
            everything = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
            mask = self.tap("mask", everything if mask is None else mask)
        heads = self.tap("head_output", self._attend(q, k, v, mask, bias))
        merged = heads.transpose(1, 2).flatten(2)  # (batch, query, head, head_dim) -> (batch, query, d_model)
        return self.tap("output", self.output_projection(merged))

    def _place(self, q: Tensor, k: Tensor, positional: Positional | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Let the positional scheme act: turned queries and keys, and the bias of the scores."""
        if positional is None:
            return q, k, None
        turned_q, turned_k = positional.rotate(q), positional.rotate(k)
        if turned_q is not None and turned_k is not None:
            q, k = self.tap("rotated_query", turned_q), self.tap("rotated_key", turned_k)
        bias = positional.bias(q.shape[-2], k.shape[-2])
        return q, k, None if bias is None else self.tap("position_bias", bias.to(q))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        written = not torch.is_grad_enabled() and not dropout and q.is_cpu and is_faster_written(q, k)
        if self.wanted("scores", "masked_scores"):
            scores = self.tap("scores", attention_scores(q, k, bias=bias))
            masked = self.tap("masked_scores", mask_scores(scores, mask))
            weights = self.tap("weights", attention_weights(masked, mask))
        elif self.wanted("weights") or written:
            weights = self.tap("weights", weights_alone(q, k, mask, bias=bias))
        else:
            return _fused(q, k, v, mask, bias, dropout)
        return (F.dropout(weights, dropout) if dropout else weights) @ v

    def _split(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) -> (batch, head, seq, head_dim)."""
        batch, seq, _ = x.shape
        return x.view(batch, seq, self.num_heads, -1).transpose(1, 2)

    def _check(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
        for name, x in (("query", query), ("key", key), ("value", value)):
            shape = x.shape
            if len(shape) != 3 or shape[-1] != self.d_model or 0 in shape:
                raise ValueError(
                    f"{name}: expected a non-empty (batch, seq, d_model={self.d_model}), got {tuple(shape)}"
                )
        if key.shape != value.shape or query.shape[0] != key.shape[0]:
            raise ValueError(
                "expected query, key and value of one batch, key and value of one length; "
                f"got {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}"
            )
        if mask is not None:
            check_mask(mask, (query.shape[0], self.num_heads, query.shape[1], key.shape[1]))


def _fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float) -> Tensor:
    """The same output from torch's own kernel, which never writes the weights down."""
    if mask is not None and mask.dim() < 2:
        mask = mask.expand(1, mask.shape[0] if mask.dim() else 1)  # the kernel needs a query axis
    additive = mask if bias is None else mask_scores(bias, mask)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=additive, dropout_p=dropout)
    empty = empty_rows(mask)  # kernels differ in what they give such a row: NaN, zeros, the mean of the values
    return output if empty is None else output.masked_fill(empty, 0.0)


ATTENTION: dict[str, type[MultiHeadAttention]] = {"full": MultiHeadAttention}
