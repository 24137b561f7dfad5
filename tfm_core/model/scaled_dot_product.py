"""Scaled dot-product attention as pure functions, one for each step.

    scores  = query @ key^T * scale + bias       (batch, head, query, key)
    masked  = scores, -inf where a pair may not attend
    weights = softmax over the keys; a query that may see nothing gets zeros
    heads   = weights @ value                    (batch, head, query, head_dim)

Vaswani et al. 2017, equation 1.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.allocator import in_large_pages
from tfm_core.masks.basic import check_mask
from tfm_core.model.weights_in_parts import gathered_in_parts, saves_time_in_parts, weights_in_parts


def attention_scores(query: Tensor, key: Tensor, *, scale: float | None = None, bias: Tensor | None = None) -> Tensor:
    """How well each query matches each key: (..., query, key). Vaswani et al. 2017, section 3.2.1.

    Args:
        query: (..., query, head_dim).
        key: (..., key, head_dim).
        scale: factor on the dot products, 1 / sqrt(head_dim) by default.
        bias: added afterwards, broadcasts to (..., query, key); ALiBi and T5 enter here.

    Examples:
        >>> import torch
        >>> from tfm_core import attention_scores
        >>> query, key = torch.ones(2, 4), torch.ones(3, 4)
        >>> attention_scores(query, key).tolist()  # 4 / sqrt(4)
        [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """
    scores = _scaled(query, scale) @ key.contiguous().mT  # otherwise torch copies K^T, which takes four times as long
    return scores if bias is None else scores + bias


def mask_scores(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Scores (..., query, key) with -inf where the mask is False; the same shape. Vaswani et al. 2017, section 3.2.3.

    Args:
        scores: (..., query, key).
        mask: boolean, True = may attend, broadcasts to the scores; None hides nothing.

    Examples:
        >>> import torch
        >>> from tfm_core import causal_mask, mask_scores
        >>> mask_scores(torch.zeros(2, 2), causal_mask(2)).tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


def attention_weights(masked_scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the keys, (..., query, key): a row sums to 1, or to 0 where the mask leaves it nothing.

    A softmax over nothing but -inf is NaN, and one NaN row turns every row into NaN a layer later. The mask
    is needed beside the scores so that only rows that it empties become zeros: other NaNs stay visible. Where no row is
    empty, F.softmax over the last axis.

    Args:
        masked_scores: (..., query, key), -inf where a pair may not attend.
        mask: the mask that has made them so, broadcasts to (..., query, key); None hides nothing.

    Examples:
        >>> import torch
        >>> from tfm_core import attention_weights, causal_mask, mask_scores
        >>> mask = causal_mask(2)
        >>> attention_weights(mask_scores(torch.zeros(2, 2), mask), mask).tolist()
        [[1.0, 0.0], [0.5, 0.5]]
    """
    weights = masked_scores.softmax(dim=-1)
    empty = empty_rows(mask)
    return weights if empty is None else weights.masked_fill(empty, 0.0)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(query key^T / sqrt(d_k)) value, with its weights. Vaswani et al. 2017, equation 1.

    The output is that of F.scaled_dot_product_attention.

    Args:
        query: (..., query, head_dim).
        key: (..., key, head_dim).
        value: (..., key, value_dim).
        mask: boolean, True = may attend, broadcasts to (..., query, key).
        scale: factor on the dot products, 1 / sqrt(head_dim) by default.

    Returns:
        output (..., query, value_dim) and weights (..., query, key). A query with nothing to attend to has
        zero weights and a zero output, never NaN.

    Raises:
        ValueError: for shapes that do not fit, or a mask of the wrong shape or dtype.

    Examples:
        >>> import torch
        >>> import torch.nn.functional as F
        >>> from tfm_core import causal_mask, scaled_dot_product_attention
        >>> query, key, value = torch.randn(3, 1, 5, 4, generator=torch.Generator().manual_seed(0))
        >>> output, weights = scaled_dot_product_attention(query, key, value, causal_mask(5))
        >>> output.shape, weights.shape
        (torch.Size([1, 5, 4]), torch.Size([1, 5, 5]))
        >>> torch.allclose(output, F.scaled_dot_product_attention(query, key, value, is_causal=True), atol=1e-5)
        True
    """
    _check_shapes(query, key, value)
    if mask is not None:
        check_mask(mask, (*_batch_shape(query, key), query.shape[-2], key.shape[-2]))
    return attended_alone(query, key, value, mask, scale=scale)


def weights_alone(
    query: Tensor, key: Tensor, mask: Tensor | None, *, scale: float | None = None, bias: Tensor | None = None
) -> Tensor:
    """What the three steps above give, to the last digit, when nobody asks for the scores on the way."""
    if saves_time_in_parts(query, key):
        return weights_in_parts(_scaled(query, scale), key, mask, empty_rows(mask), bias, new=in_large_pages)
    return attention_weights(mask_scores(attention_scores(query, key, scale=scale, bias=bias), mask), mask)


def attended_alone(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """What the heads gather, (batch, head, query, head_dim), and the weights, when nobody asks for the scores.

    Of many weights, a few at a time meet the values, before they leave the processor's cache: 200 tokens of 16
    sequences and 8 heads then take a sixth less time.
    """
    if saves_time_in_parts(query, key, value):
        weights = in_large_pages((*query.shape[:-1], key.shape[-2]), query.dtype)
        gathered = gathered_in_parts(
            _scaled(query, scale), key, value, mask, empty_rows(mask), bias, new=in_large_pages, weights=weights
        )
        return gathered, weights
    weights = weights_alone(query, key, mask, scale=scale, bias=bias)
    return weights @ value, weights


def gathered_alone(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """What the heads gather, (batch, head, query, head_dim), when nobody asks for the weights.

    With a bias torch's kernel writes all scores of all heads, and takes three times as long as parts of them in turn.
    """
    if bias is not None and not dropout and saves_time_in_parts(query, key, value):
        return gathered_in_parts(_scaled(query, None), key, value, mask, empty_rows(mask), bias, new=in_large_pages)
    return fused_attention(query, key, value, mask, bias, dropout)


def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """What the heads gather, (batch, head, query, head_dim), by torch's own kernel, which never writes the weights.

    Dao et al. 2022, "FlashAttention". Shapes as above; the bias broadcasts to (batch, head, query, key).
    """
    if mask is not None and mask.dim() < 2:
        mask = mask.expand(1, mask.shape[0] if mask.dim() else 1)  # the kernel needs a query axis
    additive = mask if bias is None else mask_scores(bias, mask)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=additive, dropout_p=dropout)
    empty = empty_rows(mask)  # kernels differ in what they give such a row: NaN, zeros, the mean of the values
    return output if empty is None else output.masked_fill(empty, 0.0)


def empty_rows(mask: Tensor | None) -> Tensor | None:
    """The queries that may see nothing, (..., query, 1), or None where there is no such query."""
    if mask is None:
        return None
    empty = ~mask.any(dim=-1, keepdim=True)
    return empty if bool(empty.any()) else None


def _scaled(query: Tensor, scale: float | None) -> Tensor:
    return query * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    shapes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    if min(map(len, shapes)) >= 2 and query.shape[-1] == key.shape[-1] and 0 < key.shape[-2] == value.shape[-2]:
        with suppress(RuntimeError):
            _batch_shape(query, key, value)
            return
    raise ValueError(
        "expected query (..., query, head_dim), key (..., key, head_dim), value (..., key, value_dim) with axes before "
        f"these that broadcast, and at least one key; got {', '.join(map(str, shapes))}"
    )


def _batch_shape(*tensors: Tensor) -> torch.Size:
    """What the axes before the last two broadcast to; a RuntimeError where they do not.

    Not by torch.broadcast_shapes, whose first call loads SymPy and takes a second.
    """
    broadcast: Callable[..., Sequence[Tensor]] = torch.broadcast_tensors
    return broadcast(*(x[..., :1, :1] for x in tensors))[0].shape[:-2]
