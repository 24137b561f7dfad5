"""Where the heatmaps of a Plotly figure go. Only shares of the figure's width count: it takes what room it gets."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 780  # pixels that maps and what stands between them have in a figure of usual width
LETTER = 7.5  # width of a letter, about, in pixels; so are all sizes here
HEAD, NAME, SPACE, BAR = 56, 30, 18, 64  # the title; of a map's name; between maps; of a scale beside a map
SQUARE, LOW, HIGH, ALL = (
    440,
    12,
    32,
    420,
)  # of a square map; of a row of another one, at least and most; of all its rows
LONGEST = 120  # of names on end


@dataclass(frozen=True)
class Table:
    """What counts of a heatmap: its number of rows and columns, its longest names, whether its cells are square."""

    rows: int
    columns: int
    row_letters: int
    column_letters: int
    square: bool


@dataclass(frozen=True)
class Place:
    """Where a heatmap is, and which of its sides are named there.

    Attributes:
        x, y: from where to where, as shares of the figure.
        rows, columns: whether its rows are named at its left, and its columns below it.
        on_end: whether the names of columns stand on end, as they are too long.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    rows: bool
    columns: bool
    on_end: bool


def across_of(count: int) -> int:
    """How many heatmaps stand beside each other."""
    return count if count <= 3 else 4 if count <= 16 else 8


def places(tables: Sequence[Table], across: int, *, shared: bool, named: bool, bars: bool) -> tuple[list[Place], float]:
    """The place of each heatmap, and the height of the figure.

    Args:
        tables: from left to right, row by row.
        across: how many stand beside each other.
        shared: whether all have the same rows and columns, so that names stand at the edges alone.
        named: whether names are printed at all.
        bars: whether each has its scale beside it.
    """
    bar = BAR if bars else 0
    letters = LETTER * max(table.row_letters for table in tables) if named else 0
    names = 0.0 if shared else min(LONGEST, letters) + NAME
    space = SPACE if named else SPACE / 2
    wide = (WIDTH - (across - 1) * (names + space) - across * bar) / across
    pitch = wide + names + space + bar
    lines = [tables[begin : begin + across] for begin in range(0, len(tables), across)]
    high = HIGH if named else HIGH / 2
    tall = [max(_height(table, wide, high) for table in line) for line in lines]
    below = [max(_names_below(table, wide) for table in line) if named else NAME for line in lines]
    # of the figure's height: names above maps, maps, and what stands between them and the next names
    apart = [space if shared else under for under in below[:-1]] + [0.0]
    whole = sum(tall) + sum(apart) + NAME * len(lines)
    kept, top = [], whole
    for number, line in enumerate(lines):
        top -= NAME
        for column, table in enumerate(line):
            left, bottom = column * pitch, top - _height(table, wide, high)
            last = number * across + column + across >= len(tables)
            share = (left / WIDTH, min(1.0, (left + wide) / WIDTH))
            kept.append(
                Place(
                    x=share,
                    y=(max(0.0, bottom / whole), top / whole),
                    rows=not shared or column == 0,
                    columns=not shared or last,
                    on_end=_on_end(table, wide),
                )
            )
        top -= tall[number] + apart[number]
    return kept, HEAD + whole + below[-1]


def _height(table: Table, wide: float, high: float) -> float:
    if table.square:
        return min(wide / table.columns, SQUARE / table.rows, SQUARE / 4) * table.rows
    return max(LOW * min(table.rows, 8), min(high * table.rows, ALL))


def _on_end(table: Table, wide: float) -> bool:
    return LETTER * table.column_letters > wide / table.columns


def _names_below(table: Table, wide: float) -> float:
    """Room for the names of columns and the axis's title."""
    return NAME + (min(LONGEST, LETTER * table.column_letters) + 10 if _on_end(table, wide) else 20)
