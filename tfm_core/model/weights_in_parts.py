"""Attention weights of long texts, a few sequences at a time: the same numbers, where memory takes most of the time.

Whoever wants to know what attention computes reads `scaled_dot_product`. Here is what makes it faster on a processor:
with many tokens, most of the time goes into memory that is new to the process, as the system has to find and to clear
each page of it. So the scores take turns in one buffer that stays in the cache, the weights lie in large pages, and
what one pass frees is kept for the next (tfm_core/allocator.py). Without all three, attention of 1,024 tokens with its
weights takes about twice as long (benchmarks/core.py).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

SCORES_AT_A_TIME = 2**20  # 4 MB of float32, which a processor's cache holds
# Up to this many weights, writing them down is faster: with one thread, with several threads.
FASTER_WRITTEN = 2**21, 2**23


def saves_time_in_parts(query: Tensor, key: Tensor) -> bool:
    """Whether `weights_in_parts` can take these, (batch, head, seq, head_dim) on a processor, and is the faster way."""
    possible = query.dim() == 4 and query.shape[:2] == key.shape[:2] and query.is_cpu
    return possible and not torch.is_grad_enabled() and _count(query, key) > SCORES_AT_A_TIME


def is_faster_written(query: Tensor, key: Tensor) -> bool:
    """Whether there are so few weights that torch's fused kernel, which saves writing them, saves nothing.

    Measured (benchmarks/core.py): up to 2 million of them, and 8 million with more threads than one.
    """
    return _count(query, key) <= FASTER_WRITTEN[torch.get_num_threads() > 1]


def weights_in_parts(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    empty: Tensor | None,
    bias: Tensor | None,
    *,
    new: Callable[[tuple[int, ...], torch.dtype], Tensor],
) -> Tensor:
    """Attention weights (batch, head, query, key), without gradients; nothing is left of the scores.

    Args:
        query: (batch, head, query, head_dim), with the scale already in it.
        key: (batch, head, key, head_dim).
        mask: boolean, True = may attend, broadcasts to the weights.
        empty: (..., query, 1), the queries that may see nothing; None where there is none.
        bias: added to the scores, broadcasts to them.
        new: makes a tensor of a shape and a dtype to write to, as torch.empty does.
    """
    shape = (*query.shape[:-1], key.shape[-2])  # (batch, head, query, key)
    weights = new(shape, query.dtype)
    at_a_time = max(1, SCORES_AT_A_TIME // weights[0].numel())
    buffer = new((at_a_time, *shape[1:]), query.dtype)
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


def _count(query: Tensor, key: Tensor) -> int:
    """How many weights there are of all sequences and heads."""
    return query.shape[:-1].numel() * key.shape[-2]


def _of_batch(x: Tensor, part: slice) -> Tensor:
    """A mask's or bias's share for these sequences; without a batch axis, or with one entry there, it is for all."""
    return x[part] if x.dim() == 4 and len(x) > 1 else x
