"""The lines of a chart as Plotly traces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures.figures import colour_of, plain

Floats = NDArray[np.float64]
MARKED = 33  # a line of more points has no marks on them
CROSSED = 12  # more gaps are only read: many crosses would look like a line
NEAR_END = 0.05  # of the chart's x: a line that ends so near its right end has its name there
CLOUD = 200  # more points without an order are drawn small, so that others show through


@dataclass(frozen=True)
class Line:
    """A series of points.

    Attributes:
        name: stands in the legend, at the end of the line and beside its values; "" if its values cannot be read.
        x, y: the points. NaN, and values that a log scale cannot show, leave a gap.
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        style: "solid" joins points, with marks if there is room; "dashed" is for laws and for the second of two sides,
            "thin" for lines that surround another, "dots" for points without an order.
        mark: a text above each dot.
        says: for each point what is read there in place of its y; empty for y.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    style: Literal["solid", "dashed", "thin", "dots"] = "solid"
    mark: str = ""
    says: Sequence[str] = ()


def traces(lines: Sequence[Line], which: str, *, bottom: float, log: bool, gap: str) -> list[dict[str, Any]]:
    """A trace for each line, and one for the places at which it has no value.

    Args:
        lines: the lines of one chart.
        which: the number after "x" and "y" in the names of the chart's axes.
        bottom: the low end of the y axis, as Plotly's `range` has it.
        log: whether the y axis is logarithmic.
        gap: the text in place of a NaN.

    Raises:
        ValueError: if a line does not have as many x as y.
    """
    drawn = []
    every_x = [float(x) for line in lines for x in line.x]
    right = max(every_x) - NEAR_END * (max(every_x) - min(every_x)) if every_x else 0.0
    for line in lines:
        if len(line.x) != len(line.y):
            raise ValueError(f"expected a y for each x of {line.name!r}, got {len(line.x)} x and {len(line.y)} y")
        x, y = np.asarray(line.x, np.float64), np.asarray(line.y, np.float64)
        shown = np.isfinite(y) & ((y > 0) | (not log))
        common = {
            "type": "scatter",
            "name": plain(line.name),
            "legendgroup": plain(line.name),
            "uid": _uid(which, line.name),
            "xaxis": f"x{which}",
            "yaxis": f"y{which}",
        }
        drawn.append(common | {"x": x, "y": y} | _style(line, shown) | _read(line, x[shown], y[shown], log, right))
        if line.name and not shown.all():
            drawn.append(
                common | _gaps(line, which, x[~shown], y[~shown], bottom=10**bottom if log else bottom, text=gap)
            )
    return drawn


def _uid(which: str, name: str) -> str:
    """The id by which Plotly knows a line again when numbers change; as a class in CSS it has no other signs."""
    return f"l{blake2b(f'{which} {name}'.encode(), digest_size=6).hexdigest()}"


def _read(line: Line, x: Floats, shown: Floats, log: bool, right: float) -> dict[str, Any]:
    """How a line's values are read, and at which height its name stands right of the chart.

    Dots that are marked by a text have no name there, nor has a line that ends further left than `right`: beside the
    end of another line it would name that one.
    """
    if not line.name or not shown.size:
        return {"hoverinfo": "skip"}  # it is there to be looked at
    if line.style == "dots" and line.mark:
        return {"hovertemplate": "%{y}"}
    read: dict[str, Any] = {"hovertemplate": "%{y}"}
    if line.says:
        read = {"hovertemplate": "%{customdata}", "customdata": list(map(plain, line.says))}
    if line.style != "dots" and x[-1] < right:
        return read
    end = float(shown.mean() if line.style == "dots" else shown[-1])
    return read | {"meta": {"end": math.log10(end) if log else end}}


def _style(line: Line, shown: NDArray[np.bool_]) -> dict[str, Any]:
    colour, dense = colour_of(line.colour), len(shown) > MARKED
    if line.style == "dots":
        cloud = len(shown) > CLOUD
        marker: dict[str, Any] = {"color": colour, "size": 8, "symbol": "circle-open", "line": {"width": 1.5}}
        if cloud:
            marker = {"color": colour, "size": 3, "symbol": "square", "opacity": 0.55}
        if not line.mark:
            return {"mode": "markers", "marker": marker}
        text = {"text": plain(line.mark), "textposition": "top center", "cliponaxis": False}
        return {"mode": "markers+text", "marker": marker, **text}
    thin, dashed = line.style == "thin", line.style == "dashed"
    stroke = {"color": colour, "width": 1 if thin or len(shown) > 1000 else 2, "dash": "dash" if dashed else "solid"}
    beside = np.concatenate([[False], shown, [False]])
    alone = shown & ~beside[:-2] & ~beside[2:]  # no line leads to them
    if not dense and line.style == "solid":
        return {"mode": "lines+markers", "line": stroke, "marker": {"color": colour, "size": 6}}
    if not alone.any():
        return {"mode": "lines", "line": stroke}
    symbol = "circle-open" if dashed else "circle"  # A's may lie below
    return {"mode": "lines+markers", "line": stroke, "marker": {"color": colour, "size": 7 * alone, "symbol": symbol}}


def _gaps(line: Line, which: str, x: Floats, y: Floats, *, bottom: float, text: str) -> dict[str, Any]:
    """Where a line has no value, the text can be read, and a few gaps are crosses on the x axis."""
    colour = colour_of(line.colour)
    return {
        "x": x,
        "y": np.full(len(x), bottom),
        "meta": "gap",
        "uid": _uid(f"gap {which}", line.name),
        "mode": "markers",
        "opacity": 1 if len(x) <= CROSSED else 0,
        "marker": {"color": colour, "size": 6, "symbol": "x-thin", "line": {"width": 1, "color": colour}},
        "customdata": [text if np.isnan(value) else f"{value:g}" for value in y],
        "hovertemplate": "%{customdata}",
    }
