"""What a scheme says of each pair of positions, as a table position x position and by distance. Pure."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional
from tfm_core.study.position_laws import ByDistance, by_distance
from tfm_ui.lenses.positions.maths import EPSILON, spaced, turned_pair
from tfm_ui.lenses.positions.state import MEASURES
from tfm_ui.live.tables import Part, Table
from tfm_ui.live.tables import by_distance as table_by_distance
from tfm_ui.live.windows import pooled

CELLS = 2**18  # that are measured: of larger tables evenly chosen rows, the first and the last among them


@dataclass(frozen=True)
class Pairs:
    """The table position x position of one scheme.

    Attributes:
        unit: what its values are.
        length: how many positions.
        cells: rows and columns -> values.
        signed: whether they may lie on either side of 0.
        defined: for how many of them the scheme has a value; of all others the table has none.
        by_distance: the values by distance, of the rows that were measured.
        measured: how many rows these are, of those that are defined.
        rounding: what float32 leaves of equal values, as a share of the largest.
    """

    unit: str
    length: int
    defined: int
    cells: Table
    signed: bool
    by_distance: ByDistance
    measured: int
    rounding: float

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value that were measured; 0 and 0 if there is none."""
        least, most = self.by_distance.least, self.by_distance.most
        there = ~least.isnan()
        return (least[there].min().item(), most[there].max().item()) if there.any() else (0.0, 0.0)

    @property
    def top(self) -> float:
        """The largest absolute value, 0 if there is none."""
        return max(map(abs, self.ends))

    @property
    def by_distance_alone(self) -> bool:
        """Whether all pairs at the same distance that were measured are equal, to float32's rounding."""
        return self.by_distance.spread <= self.rounding * self.top

    def pooled(self, part: Part) -> NDArray[np.float32]:
        """The values to show. Where all pairs at the same distance are equal, they are computed from the distances."""
        if part.exact or not self.by_distance_alone or self.by_distance.mean.isnan().any():
            return pooled(self.cells, part)
        return pooled(table_by_distance(self.by_distance.mean.float()), part)


def pairs(
    scheme: Positional, length: int, measure: str, head: int, seed: int, added: Tensor | None, defined: int
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
        defined: how many rows it has.
    """
    at, signed, rounding = spaced(defined, CELLS // length), measure == MEASURES[0], 16 * EPSILON
    if "bias_at" in scheme.enters():
        bias = scheme.bias_at(torch.arange(1 - length, length))
        assert bias is not None
        values = bias[head].float().contiguous()
        rows = torch.stack([values[length - 1 - i : 2 * length - 1 - i] for i in at.tolist()])
        unit, table = f"bias of head {head + 1}", table_by_distance(values)
        signed = bool((values > 0).any())
        return Pairs(unit, length, defined, table, signed, by_distance(rows, at), len(at), rounding)
    if added is not None:
        first = second = added
        units = "PE(m)·PE(n)", "‖PE(m) − PE(n)‖"
    elif "rotate" in scheme.enters():
        first, second = turned_pair(scheme, length, seed)
        units = "Rₘq·Rₙk", "‖Rₘq − Rₙk‖"
        rounding = (16 + length) * EPSILON  # the angles' own: they are as large as the positions
    else:
        return None
    between = _dots if signed else _distances

    def cells(rows: slice, columns: slice) -> Tensor:
        return between(first[rows], second[columns])

    unit, measured = units[MEASURES.index(measure)], by_distance(between(first[at], second), at)
    return Pairs(unit, length, defined, cells, signed, measured, len(at), rounding)


def _dots(first: Tensor, second: Tensor) -> Tensor:
    return first @ second.mT


def _distances(first: Tensor, second: Tensor) -> Tensor:
    """Distances in float64: small ones are differences of large sums, and what is left of equal ones is rounding."""
    first, second = first.double(), second.double()
    sums = first.square().sum(1)[:, None] + second.square().sum(1)
    squares = sums - 2 * first @ second.mT
    return torch.where(squares < 1e-14 * sums, 0, squares).sqrt().float()
