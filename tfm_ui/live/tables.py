"""Large tables that are never built as a whole: only the cells of the visible part are computed. Pure functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

SIDE = 256  # the most cells per side that are sent to the browser

Extreme = Callable[..., Tensor]  # torch.amax or torch.amin
Table = Callable[[slice, slice], Tensor]  # rows, columns -> float (rows, columns); NaN where there is no value


@dataclass(frozen=True)
class Part:
    """Rows `top` to top + rows and columns `left` to left + columns of a table of height x width.

    At most `side` cells per side are sent to the browser: fewer than SIDE if a picture shows many tables.
    """

    top: int
    left: int
    rows: int
    columns: int
    height: int
    width: int
    side: int = SIDE

    @property
    def block(self) -> tuple[int, int]:
        """How many rows and columns a cell of the picture stands for; (1, 1) if nothing is pooled."""
        return -(-self.rows // self.side), -(-self.columns // self.side)  # rounded up

    @property
    def exact(self) -> bool:
        """Whether each cell of the picture is one cell of the table."""
        return self.block == (1, 1)

    def row_names(self, names: Sequence[str] | None = None) -> list[str]:
        """A name for each row of the picture: that of its first row of the table, or without `names` its number from 0.

        Args:
            names: the names of all rows of the table.
        """
        return _names(names, self.top, self.rows, self.block[0])

    def column_names(self, names: Sequence[str] | None = None) -> list[str]:
        """A name for each column of the picture, as `row_names`."""
        return _names(names, self.left, self.columns, self.block[1])


def _names(names: Sequence[str] | None, first: int, count: int, block: int) -> list[str]:
    shown = range(first, first + count, block)
    return [names[i] for i in shown] if names else [str(i) for i in shown]


def matrix(values: Tensor | NDArray[Any]) -> Table:
    """A table whose values all exist already, (height, width)."""
    return lambda rows, columns: torch.as_tensor(values[rows, columns])


def by_distance(values: Tensor) -> "ByDistance":
    """A square table, n x n, whose cell (i, j) is the value of the distance j - i.

    Args:
        values: (2n - 1), one for each distance from 1 - n to n - 1.
    """
    return ByDistance(values)


class ByDistance:
    """The table of `by_distance`. It is pooled without being built: the distances in a block form a range."""

    def __init__(self, values: Tensor) -> None:
        self.values, self.n = values, (len(values) + 1) // 2
        self._begins = values.unfold(0, self.n, 1)  # a view: row r begins at distance r + 1 - n

    def __call__(self, rows: slice, columns: slice) -> Tensor:
        """These rows and columns: row i of the table is row n - 1 - i of the view."""
        return self._begins[self.n - rows.stop : self.n - rows.start, columns].flip(0)

    def pooled(self, part: Part) -> Tensor:
        """The value furthest from 0 in each block of the part, as a tensor."""
        down, over = part.block
        bands = [
            torch.cat(
                [self._band(row, rows, column, columns) for column, columns in _blocks(part.left, part.columns, over)],
                1,
            )
            for row, rows in _blocks(part.top, part.rows, down)
        ]
        return torch.cat(bands)

    def _band(self, row: Tensor, down: int, column: Tensor, over: int) -> Tensor:
        """The values furthest from 0 in the blocks of down x over cells that begin in these rows and columns."""
        within = self.values.unfold(0, down + over - 1, 1)  # the distances of a block, for every possible beginning
        ranges = furthest(within, lambda values, extreme: extreme(values, 1))
        return ranges[column - row[:, None] - (down - 1) + self.n - 1]


def _blocks(first: int, count: int, size: int) -> list[tuple[Tensor, int]]:
    """Groups of blocks: (where its blocks begin, their size). The last block is a second group if it is smaller."""
    begins, rest = torch.arange(first, first + count, size), count % size
    return [(begins[: len(begins) - bool(rest)], size), *[(begins[-1:], rest)] * bool(rest)]


def furthest(values: Tensor, fold: Callable[[Tensor, Extreme], Tensor]) -> Tensor:
    """The values furthest from 0, where `fold` reduces values by their largest or their smallest; NaN is ignored."""
    high, low = fold(values, torch.amax), fold(values, torch.amin)
    if high.isnan().any():
        none = values.isnan()
        high, low = (
            fold(values.masked_fill(none, -torch.inf), torch.amax),
            fold(values.masked_fill(none, torch.inf), torch.amin),
        )
    return torch.where(high >= -low, high, low).masked_fill(high == -torch.inf, torch.nan)
