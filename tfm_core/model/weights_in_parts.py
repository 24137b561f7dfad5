"""Attention weights of long texts, a few heads at a time: the same numbers, where memory takes most of the time.

Whoever wants to know what attention computes reads `scaled_dot_product`. Here is what makes it faster on a processor:
with many tokens, most of the time goes into memory that is new to the process, as the system has to find and to clear
each page of it. So the scores take turns in one buffer that stays in the cache, or where one head fills it, become
weights where they lie; values are gathered while their weights are in the cache; the weights lie in large pages, and
what one pass frees is kept for the next (tfm_core/allocator.py). Without all of this, attention of 1,024 tokens with
its weights takes about twice as long (benchmarks/core.py).
"""

import itertools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

SCORES_AT_A_TIME = 2**19  # 2 MB of float32, which a processor's cache holds beside the weights that they become
# Of heads that fill the cache each: with one thread, with several threads, which have to wait for each other at the end
# of each step of a part. On 2 cores that others use as well, one head at a time takes three times as long as four.
HEADS_AT_A_TIME = 1, 4
# Up to this many weights, writing them down is faster: with one thread, with several threads.
FASTER_WRITTEN = 2**21, 2**23


def saves_time_in_parts(query: Tensor, key: Tensor, value: Tensor | None = None) -> bool:
    """Whether the functions below can take these, (batch, head, seq, head_dim) on a processor, and are faster."""
    shapes = [x.shape[:2] for x in (key, value) if x is not None]
    possible = query.dim() == 4 and shapes.count(query.shape[:2]) == len(shapes) and query.is_cpu
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
    for part, scores in _scores_of_parts(query, key, mask, bias, new=new, weights=weights):
        _softmax(scores, empty, part, out=weights[part])
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
    weights: Tensor | None = None,
) -> Tensor:
    """What the heads gather (batch, head, query, head_dim), without gradients.

    Args: as of `weights_in_parts`, and `value`, (batch, head, key, head_dim); `weights`, (batch, head, query, key), is
        where the weights are written, of which nothing is left otherwise.
    """
    gathered = new((*query.shape[:-1], value.shape[-1]), query.dtype)
    for part, scores in _scores_of_parts(query, key, mask, bias, new=new, weights=weights):
        out = None if weights is None else weights[part]
        torch.matmul(_softmax(scores, empty, part, out=out), value[part], out=gathered[part])  # while in the cache
    return gathered


def _softmax(scores: Tensor, empty: Tensor | None, part: tuple[slice, slice], *, out: Tensor | None) -> Tensor:
    """The weights of a part, zero in rows that may see nothing."""
    weights = torch.softmax(scores, dim=-1, out=out)
    return weights if empty is None else weights.masked_fill_(_of_part(empty, part), 0.0)


def _scores_of_parts(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    *,
    new: Callable[[tuple[int, ...], torch.dtype], Tensor],
    weights: Tensor | None = None,
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Some sequences and heads after the other, and their masked scores.

    All take turns in one buffer. But where a single head fills it, and there are weights to be written, the scores lie
    where these will be: beside a buffer they would not stay in the cache. Smaller parts have no use for that, as a
    softmax over its own argument takes up to 1.4 times as long where rows end within a processor's vector.

    Args:
        query: (batch, head, query, head_dim), with the scale already in it.
        key: (batch, head, key, head_dim).
        mask: boolean, True = may attend, broadcasts to the weights.
        bias: added to the scores, broadcasts to them.
        new: makes the buffer.
        weights: (batch, head, query, key), what will be written over.
    """
    shape = (*query.shape[:-1], key.shape[-2])  # (batch, head, query, key)
    pairs = shape[-2] * shape[-1]
    heads = max(1, min(shape[1], SCORES_AT_A_TIME // pairs))
    sequences = max(1, SCORES_AT_A_TIME // (pairs * shape[1]))  # more than one only where all heads of one fit
    hidden = None if mask is None else ~mask
    query, key = query.contiguous(), key.contiguous()  # otherwise each part's product makes its own copy
    if weights is not None and pairs > SCORES_AT_A_TIME:
        buffer, heads = weights, min(shape[1], HEADS_AT_A_TIME[torch.get_num_threads() > 1])
    else:
        buffer = new((min(sequences, shape[0]), heads, *shape[2:]), query.dtype)
    for part in itertools.product(_slices(shape[0], sequences), _slices(shape[1], heads)):
        queries = query[part]
        place = buffer[part] if buffer is weights else buffer[: len(queries), : queries.shape[1]]
        scores = torch.matmul(queries, key[part].mT, out=place)
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
