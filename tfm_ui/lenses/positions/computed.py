"""What is computed of positional schemes without a model, and its caches. Results are shared: read, never write."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import POSITIONAL, Positional
from tfm_core.model.initialization import fill_parameters
from tfm_core.study.closest_rows import Closest, closest
from tfm_core.study.position_laws import ShiftError, fitted_shift_error, shift_error
from tfm_ui.lenses.positions.pairs import Pairs, pairs
from tfm_ui.live.cache import cached
from tfm_ui.live.windows import Part


@dataclass(frozen=True, kw_only=True)
class Spec:
    """How a scheme is made: its name in `POSITIONAL`, its arguments, and the seed of its weights."""

    name: str
    d_model: int
    num_heads: int
    max_len: int
    bidirectional: bool
    base: float
    seed: int

    @property
    def arguments(self) -> dict[str, Any]:
        """Of the scheme itself."""
        return {name: value for name, value in asdict(self).items() if name not in ("name", "seed")}


@cached()
def lone_scheme(spec: Spec) -> Positional:
    """A positional scheme without a model, its weights those that a single stack of this seed has."""
    scheme = POSITIONAL[spec.name](**spec.arguments)
    fill_parameters(nn.ModuleDict({"stack": nn.ModuleDict({"positional": scheme})}), spec.seed)
    return scheme.eval().requires_grad_(False)


def known(spec: Spec, length: int) -> int:
    """How many of so many positions the scheme has: a table ends at max_len."""
    return min(length, spec.max_len) if "max_len" in POSITIONAL[spec.name].about.depends_on else length


@cached()
def encoding(spec: Spec, length: int) -> Tensor:
    """What a scheme adds to the embeddings, (length, width); NaN where it has nothing to add.

    Raises:
        ValueError: for a scheme that is not added to the embeddings.
    """
    found = lone_scheme(spec).encode(known(spec, length))
    if found is None:
        raise ValueError(f"expected a scheme that is added to the embeddings, got {spec.name}")
    return F.pad(found, (0, 0, 0, length - len(found)), value=torch.nan) if len(found) < length else found


@cached()
def position_pairs(spec: Spec, length: int, measure: str, head: int) -> Pairs | None:
    """What a scheme says of each pair of positions; see tfm_ui/lenses/positions/pairs.py."""
    scheme = lone_scheme(spec)
    added = encoding(spec, length) if "encode" in scheme.enters() else None
    return pairs(scheme, length, measure, head, spec.seed, added, known(spec, length))


@cached()
def position_square(spec: Spec, length: int, measure: str, head: int, part: Part) -> NDArray[np.float32] | None:
    """A part of their table, pooled."""
    found = position_pairs(spec, length, measure, head)
    return found.pooled(part) if found else None


@cached()
def closest_positions(spec: Spec, length: int) -> Closest:
    """The two positions, of those that the scheme has, whose vectors are nearest to each other."""
    return closest(_rows(spec, length))


@cached()
def position_shift(spec: Spec, length: int, shift: int) -> ShiftError | None:
    """What a shift's linear map leaves: the paper's for waves, else the one that fits best; None if no pair is left."""
    rows = _rows(spec, length)
    if shift >= len(rows):
        return None
    if "base" in POSITIONAL[spec.name].about.depends_on:
        return shift_error(rows, shift, base=spec.base)
    return fitted_shift_error(rows, shift)


def _rows(spec: Spec, length: int) -> Tensor:
    """Those that the scheme has."""
    return encoding(spec, length)[: known(spec, length)]
