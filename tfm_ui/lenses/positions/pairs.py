"""What a scheme says of each pair of positions, as a table position x position and by distance. Pure."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional
from tfm_core.study.position_laws import ByDistance, by_distance, drawn_pair
from tfm_ui.live.windows import Part, Table, pooled
from tfm_ui.live.windows import by_distance as table_by_distance

CELLS = 2**18  # that are measured: of larger tables evenly chosen rows, the first and the last among them
EPSILON = torch.finfo(torch.float32).eps
MEASURES = ("dot product", "distance")


def turned(scheme: Positional, vector: Tensor, length: int) -> Tensor:
    """One vector, turned to each position: (length, width)."""
    found = scheme.rotate(vector.expand(1, 1, length, -1))
    assert found is not None
    return found[0, 0]


def spaced(length: int, most: int) -> Tensor:
    """So many positions, or all, evenly chosen: the first and the last among them."""
    return torch.linspace(0, length - 1, min(length, most), dtype=torch.float64).round().long()


@dataclass(frozen=True)
class Pairs:
    """The table position x position.

    Attributes:
        unit: what its values are.
        length: how many positions.
        cells: rows and columns -> values.
        signed: whether they may lie on either side of 0.
        known: for how many of them the scheme has a value; of all others the table has none.
        found: the values by distance, of the rows that were measured.
        measured: how many rows these are, of those known.
        rounding: what float32 leaves of equal values, as a share of the largest.
    """

    unit: str
    length: int
    known: int
    cells: Table
    signed: bool
    found: ByDistance
    measured: int
    rounding: float

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value that were measured; 0 and 0 if there is none."""
        least, most = self.found.least, self.found.most
        there = ~least.isnan()
        return (least[there].min().item(), most[there].max().item()) if there.any() else (0.0, 0.0)

    @property
    def top(self) -> float:
        """The largest size of a value, 0 if there is none."""
        return max(map(abs, self.ends))

    @property
    def by_distance_alone(self) -> bool:
        """Whether all pairs of one distance that were measured are equal, to float32's rounding."""
        return self.found.spread <= self.rounding * self.top

    def pooled(self, part: Part) -> NDArray[np.float32]:
        """What of the table is shown: where pairs of one distance are equal, a block is read off the distances."""
        if part.exact or not self.by_distance_alone or self.found.mean.isnan().any():
            return pooled(self.cells, part)
        return pooled(table_by_distance(self.found.mean.float()), part)


def pairs(
    scheme: Positional, length: int, measure: str, head: int, seed: int, added: Tensor | None, known: int
) -> Pairs | None:
    """The table of a scheme; None if it says nothing of positions.

    Args:
        scheme: with its weights.
        length: how many positions.
        measure: one of `MEASURES`; a bias is shown as it is.
        head: of the bias, from 0.
        seed: of the query and the key that are turned.
        added: what the scheme adds at each position, float32 (length, d_model), NaN where it has no such row; of one
            that adds nothing, None.
        known: how many rows it has.
    """
    at, signed, rounding = spaced(known, CELLS // length), measure == MEASURES[0], 16 * EPSILON
    if "bias_at" in scheme.enters():
        bias = scheme.bias_at(torch.arange(1 - length, length))
        assert bias is not None
        values = bias[head].float().contiguous()
        rows = torch.stack([values[length - 1 - i : 2 * length - 1 - i] for i in at.tolist()])
        found = by_distance(rows, at)
        unit, table = f"bias of head {head + 1}", table_by_distance(values)
        signed = bool((values > 0).any())
        return Pairs(unit, length, known, table, signed, found, len(at), rounding)
    if added is not None:
        one = other = added
        units = "PE(m)·PE(n)", "‖PE(m) − PE(n)‖"
    elif "rotate" in scheme.enters():
        one, other = (turned(scheme, vector, length) for vector in drawn_pair(scheme.d_model, seed))
        units = "Rₘq·Rₙk", "‖Rₘq − Rₙk‖"
        rounding = (16 + length) * EPSILON  # the angles' own: they are as large as the positions
    else:
        return None
    between = _dots if signed else _distances

    def cells(rows: slice, columns: slice) -> Tensor:
        return between(one[rows], other[columns])

    unit, found = units[MEASURES.index(measure)], by_distance(between(one[at], other), at)
    return Pairs(unit, length, known, cells, signed, found, len(at), rounding)


def _dots(one: Tensor, other: Tensor) -> Tensor:
    return one @ other.mT


def _distances(one: Tensor, other: Tensor) -> Tensor:
    """In float64: small distances are differences of large sums, and what is left of equal ones is rounding."""
    first, second = one.double(), other.double()
    sums = first.square().sum(1)[:, None] + second.square().sum(1)
    squares = sums - 2 * first @ second.mT
    return torch.where(squares < 1e-14 * sums, 0, squares).sqrt().float()
