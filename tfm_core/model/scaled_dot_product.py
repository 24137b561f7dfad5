"""Scaled dot-product attention as pure functions: step by step, and the faster ways to the same numbers.

    scores  = query @ key^T * scale + bias       (batch, head, query, key)
    masked  = scores, -inf where a pair may not attend
    weights = softmax over the keys; a query that may see nothing gets zeros
    heads   = weights @ value                    (batch, head, query, head_dim)

Vaswani et al. 2017, equation 1.
"""

import ctypes
import math
import mmap
from contextlib import suppress

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.masks.basic import check_mask

SCORES_AT_A_TIME = 2**20  # 4 MB of float32, which a processor's cache holds
FASTER_WRITTEN = 2**21, 2**23  # weights, up to so many: with one thread, with more

# So that a pass can reuse what an earlier one freed: glibc hands back to the system whatever exceeds twice the largest
# block freed so far, counting blocks of up to 32 MB. This one is never written to, and so costs nothing.
torch.empty(31 * 2**20, dtype=torch.uint8, device="cpu")


def attention_scores(query: Tensor, key: Tensor, *, scale: float | None = None, bias: Tensor | None = None) -> Tensor:
    """How well each query matches each key: (..., query, key).

    Args:
        query: (..., query, head_dim).
        key: (..., key, head_dim).
        scale: factor on the dot products, 1 / sqrt(head_dim) by default.
        bias: added afterwards, broadcasts to (..., query, key); ALiBi and T5 enter here.
    """
    scores = (query * (_default_scale(query) if scale is None else scale)) @ key.mT
    return scores if bias is None else scores + bias


def mask_scores(scores: Tensor, mask: Tensor | None) -> Tensor:
    """-inf where the mask is False; the same shape."""
    return scores if mask is None else scores.masked_fill(~mask, -math.inf)


def attention_weights(masked_scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the keys, (..., query, key): a row sums to 1, or to 0 where the mask leaves it nothing.

    A softmax over nothing but -inf is NaN, and one NaN row turns every row into NaN a layer later. The mask
    is needed beside the scores so that only rows that it empties become zeros: other NaNs stay visible.
    """
    weights = masked_scores.softmax(dim=-1)
    empty = _empty_rows(mask)
    return weights if empty is None else weights.masked_fill(empty, 0.0)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(query key^T / sqrt(d_k)) value, with its weights. Vaswani et al. 2017, equation 1.

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
    """
    _check_shapes(query, key, value)
    if mask is not None:
        batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        check_mask(mask, (*batch, query.shape[-2], key.shape[-2]))
    weights = weights_alone(query, key, mask, scale=scale)
    return weights @ value, weights


def weights_alone(
    query: Tensor, key: Tensor, mask: Tensor | None, *, scale: float | None = None, bias: Tensor | None = None
) -> Tensor:
    """What the three steps above give, to the last digit, when nobody asks for the scores on the way.

    What takes the time with many tokens is memory that is new to the process. Without gradients, the scores of a few
    sequences at a time take turns in one buffer that stays in the cache, and only the weights get memory of their own.
    """
    unusual = query.dim() != 4 or query.shape[:2] != key.shape[:2] or not query.is_cpu
    if unusual or torch.is_grad_enabled() or _fits_the_cache(query, key):
        return attention_weights(mask_scores(attention_scores(query, key, scale=scale, bias=bias), mask), mask)
    shape = (*query.shape[:-1], key.shape[-2])  # (batch, head, query, key)
    query = query * (_default_scale(query) if scale is None else scale)
    empty = _empty_rows(mask)
    weights = _new_memory(shape, query.dtype)
    at_a_time = max(1, SCORES_AT_A_TIME // weights[0].numel())
    buffer = _new_memory((at_a_time, *shape[1:]), query.dtype)
    for start in range(0, shape[0], at_a_time):
        part = slice(start, start + at_a_time)
        scores = torch.matmul(query[part], key[part].mT, out=buffer[: len(query[part])])
        if bias is not None:
            scores += _of_batch(bias, part)
        if mask is not None:
            scores.masked_fill_(~_of_batch(mask, part), -math.inf)
        torch.softmax(scores, dim=-1, out=weights[part])
        if empty is not None:
            weights[part].masked_fill_(_of_batch(empty, part), 0.0)
    return weights


def _fits_the_cache(query: Tensor, key: Tensor) -> bool:
    """Whether the scores of all sequences at once are few enough."""
    return query.shape[:-1].numel() * key.shape[-2] <= SCORES_AT_A_TIME


def is_faster_written(query: Tensor, key: Tensor) -> bool:
    """Whether there are so few weights that torch's kernel, which saves writing them, saves nothing.

    Measured (benchmarks/core.py): up to 2 million of them, and 8 million with more threads than one.
    """
    return query.shape[:-1].numel() * key.shape[-2] <= FASTER_WRITTEN[torch.get_num_threads() > 1]


def _of_batch(x: Tensor, part: slice) -> Tensor:
    """A mask's or bias's share for these sequences; without a batch axis, or with one entry there, it is for all."""
    return x[part] if x.dim() == 4 and len(x) > 1 else x


def _new_memory(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """torch.empty, in large pages where Linux has them, from 4 MB on as in NumPy: 512 times fewer to find.

    Twice as fast at 1,024 tokens. By madvise(2), which is advice: where it is not heeded, nothing is lost.
    """
    new = torch.empty(shape, dtype=dtype)
    if new.nbytes >= 2**22 and hasattr(mmap, "MADV_HUGEPAGE"):
        start = -(-new.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
        length = new.data_ptr() + new.nbytes - start
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), mmap.MADV_HUGEPAGE)
    return new


def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None, dropout: float
) -> Tensor:
    """The same output from torch's own kernel, which never writes the weights down."""
    if mask is not None and mask.dim() < 2:
        mask = mask.expand(1, mask.shape[0] if mask.dim() else 1)  # the kernel wants a query axis
    additive = mask if bias is None else mask_scores(bias, mask)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=additive, dropout_p=dropout)
    empty = _empty_rows(mask)  # kernels differ in what they give such a row: NaN, zeros, the mean of the values
    return output if empty is None else output.masked_fill(empty, 0.0)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    shapes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    fits = min(map(len, shapes)) >= 2 and query.shape[-1] == key.shape[-1] and 0 < key.shape[-2] == value.shape[-2]
    with suppress(ValueError):
        np.broadcast_shapes(*(shape[:-2] for shape in shapes))
        if fits:
            return
    raise ValueError(
        "expected query (..., query, head_dim), key (..., key, head_dim), value (..., key, value_dim) with axes before "
        f"these that broadcast, and at least one key; got {', '.join(map(str, shapes))}"
    )


def _default_scale(query: Tensor) -> float:
    return 1.0 / math.sqrt(query.shape[-1])


def _empty_rows(mask: Tensor | None) -> Tensor | None:
    """The queries that may see nothing, (..., query, 1), or None where there is no such query."""
    if mask is None:
        return None
    empty = ~mask.any(dim=-1, keepdim=True)
    return empty if bool(empty.any()) else None
