"""Attention weights of long texts, a few heads at a time: the same numbers, where memory takes most of the time.

Whoever wants to know what attention computes reads `scaled_dot_product`. Here is what makes it faster on a processor:
with many tokens, most of the time goes into memory that is new to the process, as the system has to find and to clear
each page of it. So the scores take turns in one buffer that stays in the cache, the weights lie in large pages, and
what one pass frees is kept for the next (tfm_core/allocator.py). Without all three, attention of 1,024 tokens with its
weights takes about twice as long (benchmarks/core.py).
"""

import itertools
import math
from collections.abc import Callable, Iterator

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

    Args: those of `_scores_of_parts`; `new` makes a tensor of a shape and a dtype to write to, as torch.empty does.
    """
    weights = new((*query.shape[:-1], key.shape[-2]), query.dtype)
    for part, scores in _scores_of_parts(query, key, mask, bias, new=new):
        torch.softmax(scores, dim=-1, out=weights[part])
        if empty is not None:
            weights[part].masked_fill_(_of_part(empty, part), 0.0)
    return weights


def gathered_in_parts(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    empty: Tensor | None,
    bias: Tensor | None,
    *,
    new: Callable[[tuple[int, ...], torch.dtype], Tensor],
) -> Tensor:
    """What the heads gather (batch, head, query, head_dim), without gradients; nothing is left of the weights.

    Args: as of `weights_in_parts`, and `value`, (batch, head, key, head_dim).
    """
    gathered = new((*query.shape[:-1], value.shape[-1]), query.dtype)
    for part, scores in _scores_of_parts(query, key, mask, bias, new=new):
        weights = torch.softmax(scores, dim=-1)
        if empty is not None:
            weights.masked_fill_(_of_part(empty, part), 0.0)
        torch.matmul(weights, value[part], out=gathered[part])
    return gathered


def _scores_of_parts(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    *,
    new: Callable[[tuple[int, ...], torch.dtype], Tensor],
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Some sequences and heads after the other, and their masked scores, in one buffer.

    Args:
        query: (batch, head, query, head_dim), with the scale already in it.
        key: (batch, head, key, head_dim).
        mask: boolean, True = may attend, broadcasts to the weights.
        bias: added to the scores, broadcasts to them.
        new: makes the buffer.
    """
    shape = (*query.shape[:-1], key.shape[-2])  # (batch, head, query, key)
    pairs = shape[-2] * shape[-1]
    heads = max(1, min(shape[1], SCORES_AT_A_TIME // pairs))
    sequences = max(1, SCORES_AT_A_TIME // (pairs * shape[1]))  # more than one only where all heads of one fit
    hidden = None if mask is None else ~mask
    buffer = new((min(sequences, shape[0]), heads, *shape[2:]), query.dtype)
    for part in itertools.product(_slices(shape[0], sequences), _slices(shape[1], heads)):
        queries = query[part]
        scores = torch.matmul(queries, key[part].mT, out=buffer[: len(queries), : queries.shape[1]])
        if bias is not None:
            scores += _of_part(bias, part)
        if hidden is not None:
            scores.masked_fill_(_of_part(hidden, part), -math.inf)
        yield part, scores


def _slices(count: int, step: int) -> list[slice]:
    return [slice(start, start + step) for start in range(0, count, step)]


def _count(query: Tensor, key: Tensor) -> int:
    """How many weights there are of all sequences and heads."""
    return query.shape[:-1].numel() * key.shape[-2]


def _of_part(x: Tensor, part: tuple[slice, slice]) -> Tensor:
    """A mask's or bias's share for these sequences and heads; an axis that is missing, or has one entry, is for all."""
    axes = zip(x.shape, part[4 - x.dim() :], strict=False)  # without a batch axis it begins with the heads
    return x[tuple(some if size > 1 else slice(None) for size, some in axes)]
