"""Positional schemes without a model, and vectors that they turn: what the lens and its recipes compute with."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tfm_core import POSITIONAL, Positional
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.trained import RANDOM, put_trained
from tfm_core.study.position_laws import drawn_pair

EPSILON = torch.finfo(torch.float32).eps


def lone_scheme(*, name: str, seed: int, weights: str = RANDOM, stack: str = "stack", **sizes: Any) -> Positional:
    """A positional scheme without a model, its weights those that a single stack of this seed has, or a trained one."""
    scheme = POSITIONAL[name](**sizes)
    holder = torch.nn.ModuleDict({stack: torch.nn.ModuleDict({"positional": scheme})})
    fill_parameters(holder, seed)
    if weights != RANDOM:
        put_trained(holder, weights)
    return scheme.eval().requires_grad_(False)


def added_vectors(spec: Mapping[str, Any], rows: int) -> Tensor:
    """What a scheme adds to the embeddings at the first `rows` positions, (position, width)."""
    vectors = lone_scheme(**spec).encode(rows)
    assert vectors is not None
    return vectors


def turned(scheme: Positional, vector: Tensor, length: int) -> Tensor:
    """One vector, turned to each position: (length, width)."""
    vectors = scheme.rotate(vector.expand(1, 1, length, -1))
    assert vectors is not None
    return vectors[0, 0]


def turned_pair(scheme: Positional, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """A drawn query and a drawn key, each turned to each position: twice (length, width)."""
    query, key = drawn_pair(scheme.d_model, seed)
    return turned(scheme, query, length), turned(scheme, key, length)


def compared_vectors(scheme: Positional, rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """What positions are compared by: the vectors that are added, twice; or a query and a key, turned to each one."""
    added = scheme.encode(rows)
    return turned_pair(scheme, rows, seed) if added is None else (added, added)


def spaced(length: int, most: int) -> Tensor:
    """`most` of the first `length` positions, evenly spaced, or all: the first and the last among them."""
    return torch.linspace(0, length - 1, min(length, most), dtype=torch.float64).round().long()


def wavelengths(*, schemes: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Tensor | None]:
    """Side -> after how many positions each pair of its dimensions has turned once, (pair). A recipe of two views."""
    waves = {side: lone_scheme(**spec).wavelengths(spec["d_model"]) for side, spec in schemes.items()}
    return waves
