"""Reaching into one attention: functions that make edits for `recording(edits=...)`.

    site = "layers.0.self_attention."
    with torch.no_grad(), recording(edits={site + "head_output": silence_head(1)}) as trace:
        logits = model(tokens)

Heads and positions count from 0. All sequences of the batch are treated alike.
"""

import math
from collections.abc import Callable

from torch import Tensor

Change = Callable[[Tensor], Tensor]


def silence_head(head: int) -> Change:
    """Nothing comes out of this head: for the site `head_output`, (batch, head, query, head_dim).

    The same as an output projection whose columns for this head are zero.
    """

    def silence(outputs: Tensor) -> Tensor:
        outputs[:, _within("head", head, outputs.shape[1])] = 0
        return outputs

    return silence


def zero_value(position: int, head: int | None = None) -> Change:
    """Queries that attend to this position gather nothing from it: for the site `value`, (batch, head, key, head_dim).

    Args:
        position: of the key whose value vector becomes zero.
        head: the one head that this happens in; all heads by default.
    """

    def zero(values: Tensor) -> Tensor:
        heads = slice(None) if head is None else _within("head", head, values.shape[1])
        values[:, heads, _within("position", position, values.shape[2])] = 0
        return values

    return zero


def set_weight(head: int, query: int, key: int, weight: float, *, renormalise: bool = True) -> Change:
    """Set one weight: for the site `weights`, (batch, head, query, key).

    It may be a pair that the mask forbids: then information leaks past the mask.

    Args:
        head: whose weights.
        query: the row.
        key: the column.
        weight: 0 to 1.
        renormalise: scale the rest of the row so that it sums to 1 again, which it cannot where the rest holds no
            weight; otherwise leave it as it is.

    Raises:
        ValueError: for a number that cannot be a weight.
    """
    if not (math.isfinite(weight) and 0 <= weight <= 1):
        raise ValueError(f"weight: expected a number from 0 to 1, got {weight}")

    def change(weights: Tensor) -> Tensor:
        at, last = _within("query", query, weights.shape[2]), _within("key", key, weights.shape[3])
        row = weights[:, _within("head", head, weights.shape[1]), at]  # (batch, key), still a part of the weights
        row[:, last] = 0
        if renormalise:
            rest = row.sum(-1, keepdim=True)
            row *= ((1 - weight) / rest).where(rest > 0, 0.0)
        row[:, last] = weight
        return weights

    return change


def in_turn(*changes: Change) -> Change:
    """Several changes of one site as one, applied in this order."""

    def all_of_them(tensor: Tensor) -> Tensor:
        for change in changes:
            tensor = change(tensor)
        return tensor

    return all_of_them


def _within(what: str, index: int, size: int) -> int:
    if not 0 <= index < size:
        raise ValueError(f"{what}: expected a number from 0 to {size - 1}, got {index}")
    return index
