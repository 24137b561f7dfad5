"""Tables for paper, as an SVG: where a view shows numbers that no picture has, and the machine block by block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from textwrap import shorten
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tfm_ui.pictures.paper import ABOUT, HEAD, MM, SETTINGS, TITLE
from tfm_ui.pictures.paper_axes import LETTERS, width_of
from tfm_ui.pictures.still import legible

ROW = 17  # pixels
MOST_ROWS, MOST_CHARS = 16, 36


@dataclass(frozen=True)
class Table:
    """A table on paper.

    Attributes:
        names: of its columns.
        rows: a text for each column.
        marked: the numbers of the rows that the page rings.
        about: stands below it, such as what was left out; "" if nothing does.
    """

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: frozenset[int] = frozenset()
    about: str = ""


def of_frame(frame: pd.DataFrame) -> Table:
    """The first rows of a table, as texts; what its rows are called is the first column, unless they have no names."""
    if any(frame.index.names):
        frame = frame.reset_index()
    rows = [[_written(value) for value in row] for row in frame.head(MOST_ROWS).itertuples(index=False)]
    about = f"Shown: {MOST_ROWS} of {len(frame):,} rows." if len(frame) > MOST_ROWS else ""
    return Table([str(name) for name in frame.columns], rows, about=about)


def of_stacks(header: Mapping[str, Any], *, short: bool = False) -> list[Table]:
    """The blocks of each stack, in the order in which a token goes through them.

    Args:
        header: of the diagram.
        short: whether numbers stand there without the formula of which they come.
    """
    tables = []
    for stack in header["stacks"]:
        rows = []
        for row in stack["rows"]:
            name = "   " * row["inside"] + " ".join(filter(None, [row["text"], row["mark"]]))
            cells = [cell[short] for cell in row["cells"]]
            rows.append([name, *cells, *[""] * (len(header["columns"]) - len(cells))])
        marked = frozenset(at for at, row in enumerate(stack["rows"]) if row["picked"])
        tables.append(Table([stack["title"], *header["columns"]], rows, marked))
    return tables


def have_room(tables: Sequence[Table], width: int) -> bool:
    """Whether no column has to be left out."""
    with matplotlib.rc_context(SETTINGS):
        whole = Figure((width * MM / 100, 1), dpi=100)
        return not any(_below(table, _columns(whole, table, width * MM)) for table in tables)


def svg(title: str, tables: Sequence[Table], width: int) -> bytes:
    """The tables below each other, as an SVG so wide, in mm; columns without room are left out, and that is said."""
    across = width * MM
    with matplotlib.rc_context(SETTINGS):
        whole = Figure((across / 100, 1), dpi=100, facecolor="white")
        placed = [_columns(whole, table, across) for table in tables]
        lines = sum(len(table.rows) + 1 + bool(_below(table, at)) for table, at in zip(tables, placed, strict=True))
        tall = HEAD + ROW * lines + 12 * len(tables)
        whole.set_size_inches(across / 100, tall / 100)

        def write(text: str, left: float, down: float, *, bold: bool = False, size: float = LETTERS) -> None:
            look: dict[str, Any] = {
                "size": size,
                "weight": "bold" if bold else "normal",
                "va": "center",
                "parse_math": False,
            }
            whole.text(left / across, 1 - down / tall, legible(text), **look)

        write(title, 0, 12, bold=True, size=TITLE)
        down = float(HEAD)
        for table, columns in zip(tables, placed, strict=True):
            for number, row in enumerate([table.names, *table.rows]):
                middle = down + ROW / 2
                is_marked = number - 1 in table.marked
                for left, wide, at in columns:
                    bold = number == 0
                    write(_cut(whole, row[at], wide - 6, bold=bold), left + 4, middle, bold=bold)
                down += ROW
                up = 1 - down / tall
                heavy = number == 0
                look: dict[str, Any] = {"color": "black" if heavy else "#AAAAAA", "linewidth": 0.9 if heavy else 0.4}
                whole.add_artist(Line2D([0, 1], [up, up], **look))
                if is_marked:
                    edges = [0.001, 0.999, 0.999, 0.001, 0.001], [up, up, up + ROW / tall, up + ROW / tall, up]
                    whole.add_artist(Line2D(*edges, color="black", linewidth=1.8))
            if below := _below(table, columns):
                write(below, 4, down + ROW / 2)
                down += ROW
            down += 12
        data = BytesIO()
        whole.savefig(data, format="svg", metadata=ABOUT)
    return data.getvalue()


def _columns(whole: Figure, table: Table, across: float) -> list[tuple[float, float, int]]:
    """Where each column with room begins, its width in pixels, and its number; those without a text are left out."""
    placed: list[tuple[float, float, int]] = []
    used = 0.0
    for number, name in enumerate(table.names):
        texts = [row[number] for row in table.rows]
        if not any(texts):
            continue
        wide = max(width_of(whole, legible(text), size=LETTERS) for text in texts)
        wide = max(wide, width_of(whole, legible(name), size=LETTERS, weight="bold")) + 14
        if placed and used + wide > across:
            break
        placed.append((used, min(wide, across), number))
        used += wide
    return placed


def _below(table: Table, columns: Sequence[tuple[float, float, int]]) -> str:
    filled = sum(any(row[at] for row in table.rows) for at in range(len(table.names)))
    left_out = f"Shown: {len(columns)} of {filled} columns." if len(columns) < filled else ""
    return " ".join(filter(None, [table.about, left_out]))


def _cut(whole: Figure, text: str, room: float, *, bold: bool) -> str:
    look: dict[str, Any] = {"size": LETTERS, "weight": "bold" if bold else "normal"}
    while len(text) > 3 and width_of(whole, legible(text), **look) > room + 8:
        text = f"{text[:-2].rstrip(' …')}…"
    return text


def _written(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}".replace("-", "−")
    text = str(value)
    return shorten(text, MOST_CHARS, placeholder="…") or text[:MOST_CHARS]
