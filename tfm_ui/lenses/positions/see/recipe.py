"""What the view "see" shows, without the app."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tfm_core import apply_rotary
from tfm_ui.lenses.positions.maths import added_vectors, lone_scheme


def added(*, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int]) -> Mapping[str, Tensor]:
    """Side -> what its scheme adds at each position that it is defined for, (position, dimension)."""
    values = {side: added_vectors(spec, defined[side]) for side, spec in schemes.items()}
    return values


def bias(*, schemes: Mapping[str, Mapping[str, Any]], length: int) -> Mapping[str, Tensor | None]:
    """Side -> what its scheme adds to the scores, (head, query, key)."""
    values = {side: lone_scheme(**spec).bias(length, length) for side, spec in schemes.items()}
    return values


def clocks(*, width: int, base: float, query_position: int, key_position: int) -> tuple[Tensor, Tensor]:
    """The hands of the query and of the key, each (pair, 2): cosine and sine."""
    unit = torch.tensor([1.0] * (width // 2) + [0.0] * (width // 2))  # each pair points to the right
    turned = apply_rotary(unit.expand(2, width), torch.tensor([query_position, key_position]), base=base)
    query, key = (row.reshape(2, -1).T for row in turned)  # (pair, 2)
    return query, key
