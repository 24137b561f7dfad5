"""The Plotly figure of a head's matrices: a heatmap each, in the order in which they are computed."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Header
from tfm_ui.pictures.heat import Heat, Side, numbered
from tfm_ui.pictures.map_scale import around_zero, from_zero

NOUNS = {"dim": "dimension", "channel": "channel", "merged": "dimension of all heads"}


def matrices_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per matrix."""
    starts = header["starts"]
    heats = []
    for name, told in header["matrices"].items():
        cells = numbers[told["begin"] : told["begin"] + told["rows"] * told["columns"]]
        values = cells.reshape(told["rows"], told["columns"])
        sides = [
            _side(axis, header, starts[axis], count) for axis, count in zip(told["axes"], values.shape, strict=True)
        ]
        heats.append(
            Heat(
                name=f"{told['symbol']} {name}",
                values=np.where(np.isneginf(values), np.float32(np.nan), values),
                rows=sides[0],
                columns=sides[1],
                scale=from_zero(told["top"]) if told["weights"] else around_zero(told["top"]),
                gaps=["−∞ (masked)"],
                square=set(told["axes"]) == {"query", "key"},
            )
        )
    window = [
        f"{NOUNS.get(axis, axis)} {starts[axis] + 1}–{starts[axis] + count} of {header['ends'][axis]}"
        for axis, count in _counts(header).items()
        if count < header["ends"][axis]
    ]
    return heatmaps.figure(heats, told=f"Shown: {', '.join(window)}." if window else "", named=not header["whole"])


def _counts(header: Header) -> dict[str, int]:
    """Axis -> how many of its rows or columns are shown."""
    counts: dict[str, int] = {}
    for told in header["matrices"].values():
        counts |= dict(zip(told["axes"], (told["rows"], told["columns"]), strict=True))
    return counts


def _side(axis: str, header: Header, start: int, count: int) -> Side:
    if axis in NOUNS:
        return Side(labels=[str(start + i) for i in range(1, count + 1)], title=NOUNS[axis], noun=NOUNS[axis])
    names = header["queries"] if axis == "query" else header["keys"]
    return Side(labels=numbered(names[:count], start + 1), title=axis, noun=axis, role=axis)
