"""The Plotly figure of pairs of dimensions as clocks: a small plane per pair, with a line for each hand."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Header
from tfm_ui.pictures.figures import MUTED, SMALL, TEMPLATE, colour_of
from tfm_ui.text import formats

ACROSS, SIDE, TEXT, MARGINS = 8, 104, 44, 150  # clocks in a row; heights in pixels: a clock, its text, all around
REACH = 1.12  # from a clock's middle to its edge, where a hand is 1 long


def clocks_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """All clocks that are drawn, in rows."""
    hands, at = numbers.reshape(-1, 5), header["at"]
    rows = max(1, -(-len(hands) // ACROSS))
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for i, (hand, pair, wavelength) in enumerate(zip(hands, header["pairs"], header["wavelengths"], strict=True)):
        number = "" if i == 0 else str(i + 1)
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        told = f"pair {pair}: dimensions {pair} and {pair + header['count']}, a turn in {wavelength:.5g} positions"
        for which, hollow in (("key", True), ("query", False)):
            end = hand[:2] if which == "query" else hand[2:4]
            traces.append(_hand(which, end, hand[4], told, hollow=hollow) | on)
            traces[-1] |= {"name": f"{which} at {at[which]}", "legendgroup": which, "showlegend": i == 0}
        layout |= _axes(number, i, rows, last=i + ACROSS >= len(hands))
        layout["shapes"].append(_circle(number))
        layout["annotations"].append(_name(f"pair {pair}<br>λ {_brief(wavelength)}", number))
    layout |= {"template": TEMPLATE, "height": MARGINS + rows * (SIDE + TEXT)}
    layout["legend"] = {"y": 0, "yref": "container", "yanchor": "bottom"}
    return go.Figure(data=traces, layout=layout)


def _hand(which: str, end: NDArray[Any], between: float, told: str, *, hollow: bool) -> dict[str, Any]:
    """A line from the middle. The key's ends in a hollow dot, so that hands differ without their colours."""
    colour = colour_of(which)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.array([0, end[0]], np.float32),
        "y": np.array([0, end[1]], np.float32),
        "customdata": np.array([between, between], np.float32),
        "hovertemplate": f"{told}<br>cos %{{x:.4f}}, sin %{{y:.4f}}<br>between query and key: %{{customdata:.4f}} rad",
        "line": {"color": colour, "width": 2.5},
        "marker": {"color": colour, "size": [0, 9], "symbol": "circle-open" if hollow else "circle"},
    }


def _axes(number: str, i: int, rows: int, *, last: bool) -> dict[str, Any]:
    row, column = divmod(i, ACROSS)
    bottom = 1 - (row + 1) / rows
    plain = {"range": [-REACH, REACH], "showgrid": False, "showticklabels": False}
    across = plain | {"domain": [column / ACROSS, (column + 0.9) / ACROSS], "anchor": f"y{number}"}
    down = plain | {"domain": [bottom, bottom + SIDE / (SIDE + TEXT) / rows], "anchor": f"x{number}"}
    across |= {"title": {"text": "cos"}} if last else {}
    down |= {"title": {"text": "sin"}} if column == 0 else {}
    return {f"xaxis{number}": across, f"yaxis{number}": down | {"scaleanchor": f"x{number}"}}


def _circle(number: str) -> dict[str, Any]:
    corners = {"x0": -1, "x1": 1, "y0": -1, "y1": 1, "xref": f"x{number}", "yref": f"y{number}"}
    return {"type": "circle", **corners, "line": {"color": MUTED, "width": 1}}


def _name(text: str, number: str) -> dict[str, Any]:
    """A name above a clock."""
    place = {"xref": f"x{number} domain", "yref": f"y{number} domain", "x": 0.5, "y": 1, "yanchor": "bottom"}
    return {**place, "text": text, "showarrow": False, "font": {"size": SMALL}}


def _brief(wavelength: float) -> str:
    return f"{wavelength:.3g}" if wavelength < 1000 else formats.count(round(wavelength))
