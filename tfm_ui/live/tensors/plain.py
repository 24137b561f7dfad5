"""Functions of plain torch that a page of tensors may need. Their code is written into it, so they know torch alone."""

import torch
from torch import Tensor


def split(x: Tensor, heads: int) -> Tensor:
    """(seq, heads * head_dim) -> (head, seq, head_dim)."""
    return x.reshape(len(x), heads, -1).transpose(0, 1)


def merged(x: Tensor) -> Tensor:
    """(head, seq, head_dim) -> (seq, head * head_dim), all heads side by side."""
    return x.transpose(0, 1).flatten(1)


def rotated(x: Tensor, pairs: Tensor, turn: Tensor) -> Tensor:
    """Each pair of dimensions (pairs[i, 0], pairs[i, 1]) turned by the angle position * turn[i], in radians."""
    angle = torch.arange(x.shape[-2])[:, None] * turn  # (seq, pair)
    first, second = x[..., pairs[:, 0]], x[..., pairs[:, 1]]
    x = x.clone()
    x[..., pairs[:, 0]] = first * angle.cos() - second * angle.sin()
    x[..., pairs[:, 1]] = second * angle.cos() + first * angle.sin()
    return x


def waves(length: int, width: int, turn: Tensor) -> Tensor:
    """(position, width): sines of position * turn in the even columns, cosines in the odd ones; turn is float64."""
    angle = torch.arange(length)[:, None] * turn
    made = torch.empty(length, width)
    made[:, 0::2] = angle.sin()
    made[:, 1::2] = angle.cos()[:, : width // 2]
    return made


def distances(queries: int, keys: int) -> Tensor:
    """All distances key - query, the furthest back first."""
    return torch.arange(1 - queries, keys)


def for_pairs(by_distance: Tensor, queries: int, keys: int) -> Tensor:
    """(head, distance) -> (head, query, key): what belongs to the distance key - query of each pair."""
    distance = torch.arange(keys) - torch.arange(queries)[:, None]
    return by_distance[:, distance + queries - 1]


def rolled_out(means: Tensor) -> Tensor:
    """(layer, query, key) -> the same shape: A_l ... A_2 A_1, where A is (mean + I) with rows that sum to 1."""
    flows: list[Tensor] = []
    for mean in means:
        mixed = mean + torch.eye(len(mean))
        mixed = mixed / mixed.sum(-1, keepdim=True)
        flows.append(mixed @ flows[-1] if flows else mixed)
    return torch.stack(flows)


def features(x: Tensor) -> Tensor:
    """What linear attention takes of queries and keys: elu(x) + 1, which is exp(x) below 0."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


ALL = (split, merged, rotated, waves, distances, for_pairs, rolled_out, features)
FUNCTIONS = {function.__name__: function for function in ALL}
