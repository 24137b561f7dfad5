"""What the view "beyond" shows, without the app."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tfm_core import Positional
from tfm_ui.lenses.positions.maths import compared_vectors, lone_scheme, turned_pair


def vectors(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], last: int
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Side -> the length of its vector at each position; and of what is added the dot product with that at `last`."""
    norm, alike = {}, {}
    for side, spec in schemes.items():
        scheme = lone_scheme(**spec)
        first, second = compared_vectors(scheme, defined[side], spec["seed"])
        norm[side] = first.norm(dim=1)
        if "encode" in scheme.enters():
            alike[side] = first @ second[last]
    return norm, alike


def score_behind(scheme: Positional, length: int, head: int, seed: int) -> Tensor:
    """A head's bias, or else the score of a turned query and a turned key, of keys 0 to length - 1 before the query."""
    bias = scheme.bias_at(-torch.arange(length))
    if bias is not None:
        return bias[head]
    query, key = turned_pair(scheme, length, seed)
    return query @ key[0]


def scores(*, schemes: Mapping[str, Mapping[str, Any]], length: int, head: int) -> Mapping[str, Tensor]:
    """Side -> its bias or score by distance, (length)."""
    scores = {side: score_behind(lone_scheme(**spec), length, head, spec["seed"]) for side, spec in schemes.items()}
    return scores
