"""A heatmap of a Plotly figure as data: its numbers, its sides, its scale, and what a reader is told of a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures.heatmaps_layout import Table
from tfm_ui.pictures.map_scale import Scale

Values = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Side:
    """The rows or the columns of a heatmap.

    Attributes:
        labels: of each row or column, all different.
        title: of the axis.
        noun: what a single row or column is called.
        role: the colour of the labels, as `colour_of` names it.
    """

    labels: Sequence[str]
    title: str
    noun: str
    role: str = "ink"


@dataclass(frozen=True, kw_only=True)
class Heat:
    """A heatmap.

    Attributes:
        name: above it.
        values: (row, column), NaN for a gap.
        rows, columns: its sides.
        scale: which values the colours stand for; None if it only says which cells have a value.
        unit: what the values are.
        whole: whether all values are whole numbers.
        gaps: what a gap may be; where that is not one thing, texts tell which.
        texts: (row, column), what a reader is told of a cell; by default its number, which needs a linear scale.
        words: what 0 and 1 are called, if there are no other values.
        more: what else is told of a cell, a template, and its numbers, (row, column, number).
        behind: (row, column), the numbers that gaps hold though they do not count, else NaN.
        crosses: row and column of each cell that is crossed out.
        crossed: what a cross means.
        square: whether cells are square.
    """

    name: str
    values: Values
    rows: Side
    columns: Side
    scale: Scale | None
    unit: str = ""
    whole: bool = False
    gaps: Sequence[str] = ("masked",)
    texts: Sequence[Sequence[str]] = ()
    words: Sequence[str] = ()
    more: tuple[str, Values] | None = None
    behind: Values | None = None
    crosses: Sequence[tuple[int, int]] = ()
    crossed: str = ""
    square: bool = True

    @property
    def legend(self) -> tuple[Any, ...]:
        """Heatmaps for which this is the same share a scale."""
        return self.scale, self.unit, tuple(self.words)

    @property
    def table(self) -> Table:
        """What counts for the layout."""
        rows, columns = (max(map(len, side.labels)) for side in (self.rows, self.columns))
        return Table(len(self.rows.labels), len(self.columns.labels), rows, columns, self.square)


def numbered(names: Sequence[str], first: int = 1) -> list[str]:
    """Names with their numbers before them, by which equal ones differ: "3 sat"."""
    return [f"{number} {name}" for number, name in enumerate(names, first)]
