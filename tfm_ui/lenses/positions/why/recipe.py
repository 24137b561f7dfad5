"""What the view "why" shows, without the app."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tfm_core import Positional
from tfm_core.study.closest_rows import Closest, closest
from tfm_core.study.position_laws import (
    ByDistance,
    ShiftError,
    by_distance,
    drawn_pair,
    fitted_shift_error,
    shift_blocks,
    shift_error,
    shift_matrix,
    turned_scores,
)
from tfm_ui.lenses.positions.maths import added_vectors, compared_vectors, lone_scheme


def pair_table(scheme: Positional, rows: int, measure: str, head: int, seed: int) -> Tensor:
    """What a scheme says of each pair of positions: its bias (query, key), or how alike vectors are (m, n)."""
    bias = scheme.bias(rows, rows)
    if bias is not None:
        return bias[head]
    first, second = compared_vectors(scheme, rows, seed)
    return torch.cdist(first.double(), second.double()) if measure == "distance" else first @ second.mT


def similarity(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], measure: str, head: int
) -> tuple[Mapping[str, Tensor], Mapping[str, ByDistance]]:
    """Side -> its table position x position, of the positions that it is defined for; and the same by distance."""
    pairs = {
        side: pair_table(lone_scheme(**spec), defined[side], measure, head, spec["seed"])
        for side, spec in schemes.items()
    }
    distances = {side: by_distance(table, torch.arange(len(table))) for side, table in pairs.items()}
    return pairs, distances


def shift_left_over(scheme: Positional, vectors: Tensor, shift: int) -> ShiftError:
    """What a linear map for this shift leaves: the paper's map for waves, else the one that fits best."""
    if "base" in scheme.about.depends_on:
        return shift_error(vectors, shift, base=scheme.base)
    return fitted_shift_error(vectors, shift)


def shift_errors(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], shift: int
) -> Mapping[str, ShiftError]:
    """Side -> what the map leaves at each position."""
    left = {
        side: shift_left_over(lone_scheme(**spec), added_vectors(spec, defined[side]), shift)
        for side, spec in schemes.items()
    }
    return left


def matrix_of_shift(*, width: int, shift: int, base: float) -> Tensor:
    """M_k, (2 pairs, 2 pairs)."""
    blocks = shift_blocks(width, shift, base=base)
    matrix = shift_matrix(blocks)
    return matrix


def turned_beside_added(
    *, rotary: Mapping[str, Any], beside: Mapping[str, Any], defined: int, length: int, step: int
) -> tuple[Tensor, Tensor]:
    """The scores of a query and a key at many pairs of positions (m, n): both turned, and with vectors added."""
    scheme = lone_scheme(**rotary)
    query, key = drawn_pair(scheme.d_model, rotary["seed"])
    at = torch.arange(0, length, step)
    scores = turned_scores(query, key, at, at, base=scheme.base)
    rows = added_vectors(beside, defined)[at[at < defined]]
    added = (query + rows) @ (key + rows).mT
    return scores, added


def nearest_positions(*, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int]) -> Mapping[str, Closest]:
    """Side -> the two positions whose vectors are nearest to each other."""
    nearest = {side: closest(added_vectors(spec, defined[side])) for side, spec in schemes.items()}
    return nearest
