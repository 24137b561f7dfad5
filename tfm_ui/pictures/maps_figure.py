"""The Plotly figure of maps that share rows and columns: what maps.js draws, and what it tells of a cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.heatmaps import Heat, Side, Values, figure, with_number
from tfm_ui.pictures.map_scale import Scale

Header = dict[str, Any]
PAINTS = 4  # a code of the reasons is 4 times the sum of 2 ** i of all that hide a cell, and how it is painted
SHOWN, HIDDEN = 1, 2  # by paint


def maps_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per map."""
    tables = np.asarray(numbers, np.float32).reshape(-1, len(header["rows"]["names"]), len(header["columns"]["names"]))
    block = tuple(header["part"]["block"]) if header["part"] else (1, 1)
    rows, columns = (_side(header, at) for at in (0, 1))
    heats = []
    for number, drawn in enumerate(header["maps"]):
        cells = tables[number]
        hidden = np.isnan(tables[0]) if number and header["maps"][0]["ticks"] else np.zeros_like(cells, bool)
        values = np.where(np.isfinite(cells) & ~hidden, cells, np.float32(np.nan))
        codes = tables[-1] if header["why"] else None
        heats.append(
            Heat(
                name=drawn["name"],
                values=values,
                rows=rows,
                columns=columns,
                scale=None if drawn["ticks"] else Scale(low=drawn["low"], high=drawn["high"], powers=drawn["powers"]),
                unit=drawn["unit"],
                whole=drawn["whole"],
                gaps=_gaps(header, cells),
                texts=_texts(header, drawn, values, cells, codes, pooled=block != (1, 1)),
                words=drawn["words"] or (),
                behind=np.where(hidden & np.isfinite(cells) & (cells != 0), cells, np.float32(np.nan)),
                crosses=[(row, column) for at, row, column in header["crosses"] if at == number],
                crossed=header["crossed"],
                square=header["square"],
            )
        )
    return figure(heats, told=_told(header, block))


def _gaps(header: Header, cells: Values) -> list[str]:
    """What an empty cell is."""
    masked = "hidden" if header["maps"][0]["ticks"] else header["blank"]
    absent = [header["absent"]] if np.isposinf(cells).any() else []
    return [masked, *absent] if not absent or np.isnan(cells).any() else absent


def _texts(
    header: Header, drawn: Header, values: Values, cells: Values, codes: Values | None, *, pooled: bool
) -> list[list[str]]:
    """What each cell is called, where that is more than its number, or that it is masked."""
    if drawn["ticks"]:
        if pooled:
            pair = ("none of its pairs may attend", "some of its pairs may attend")
            return [[pair[not np.isnan(value)] for value in row] for row in values]
        known = codes if codes is not None else np.zeros_like(values)
        kinds, which = np.unique(2 * known.astype(np.int64) + ~np.isnan(values), return_inverse=True)
        told = [_why(bool(kind % 2), int(kind // 2), header["why"] or ()) for kind in kinds]
        return [[told[at] for at in row] for row in which.reshape(values.shape)]
    if not drawn["words"] and not drawn["powers"] and not np.isposinf(cells).any():
        return []

    def text(value: float, cell: float) -> str:
        if np.isnan(value):
            return str(header["absent"] if np.isposinf(cell) else header["blank"])
        return str(drawn["words"][int(value)]) if drawn["words"] else f"{value:.4g}"

    return [
        [text(value, cell) for value, cell in zip(row, of_row, strict=True)]
        for row, of_row in zip(values, cells, strict=True)
    ]


def _why(visible: bool, code: int, names: Sequence[str]) -> str:
    paint, hiding = code % PAINTS, code // PAINTS
    by = " and ".join(name for number, name in enumerate(names) if hiding >> number & 1)
    if paint == SHOWN:
        return f"shown by paint, else hidden by {by}" if by else "shown by paint"
    if paint == HIDDEN:
        return f"hidden by paint, and by {by}" if by else "hidden by paint"
    return "may attend" if visible else f"hidden by {by}" if by else "hidden"


def _side(header: Header, at: int) -> Side:
    """Rows (0) or columns (1), each with its number, or with the range of those that it stands for."""
    side, part = header[("rows", "columns")[at]], header["part"]
    names, places, nouns = side["names"], header["places"][at], side["noun"]
    if part and part["block"][at] > 1:
        block, first, size = part["block"][at], part["first"], part[("rows", "columns")[at]]
        begin = first + part[("top", "left")[at]]
        starts = range(begin, begin + size, block)
        labels = [_range(start, min(start + block, begin + size) - 1) for start in starts]
    elif side["counted"] or _tell_numbers(names):
        labels = list(names)
    else:
        labels = [with_number(place, name) for place, name in zip(places, names, strict=True)]
    return Side(labels=labels, title=side["title"], noun=nouns, role=side["role"])


def _tell_numbers(names: list[str]) -> bool:
    """Whether the names tell which row or column each is: different numbers, alone or before a name."""
    numbers = [name.partition(" ")[0] for name in names]
    return len(set(numbers)) == len(names) and all(map(str.isdecimal, numbers))


def _range(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _told(header: Header, block: tuple[int, int]) -> str:
    """What the cells stand for, and which part of a larger table they are."""
    part, told = header["part"], []
    if part and block != (1, 1):
        told.append(f"Pooled: a cell is the number furthest from 0 among {block[0]} × {block[1]} of the table.")
    for noun, top, size, whole in _parts(header) if part else ():
        if size < whole:
            told.append(f"Shown: {noun} {_range(top, top + size - 1)} of {whole}.")
    if header["read"] < len(header["rows"]["names"]):
        told.append("Rows of padding are computed, but nothing reads them.")
    return " ".join(told)


def _parts(header: Header) -> list[tuple[str, int, int, int]]:
    part = header["part"]
    return [
        (header["rows"]["noun"], part["first"] + part["top"], part["rows"], part["height"]),
        (header["columns"]["noun"], part["first"] + part["left"], part["columns"], part["width"]),
    ]
