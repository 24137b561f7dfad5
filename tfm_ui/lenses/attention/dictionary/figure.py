"""The Plotly figure of a soft dictionary: the plane with keys and query, and the weight of each key as a bar."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Header
from tfm_ui.pictures.figures import MUTED, NORMAL, PAPER, TEMPLATE, colour_of, plain
from tfm_ui.pictures.heatmaps import note
from tfm_ui.text import colours

HALO = 88  # width of a key's disc if the key had all the weight, in pixels
TOLD = (
    "value %{customdata[0]:.4~g}<br>q·k %{customdata[1]:.4~g}, score %{customdata[2]:.4~g}<br>"
    "weight %{customdata[3]:.4f}, × value %{customdata[4]:.4~g}"
)


def dictionary_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """Points, lines from the origin to them, discs whose area is the weight; bars of the weights."""
    cells = numbers.reshape(-1, 4)
    keys, values = np.array(header["keys"], np.float32), np.array(header["values"], np.float32)
    told = np.column_stack([values, cells])
    weights, names, asked = cells[:, 2], [plain(name) for name in header["names"][: len(keys)]], header["asked"]
    key, query, disc = colour_of("key"), colour_of("query"), colours.WEIGHTS["light"][8]
    points = {"type": "scatter", "x": keys[:, 0], "y": keys[:, 1]}
    lines = [
        {"type": "scatter", "mode": "lines", "x": [0, x], "y": [0, y], "hoverinfo": "skip", "line": {"color": key}}
        for x, y in header["keys"]
    ]
    discs = points | {
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"size": HALO * np.sqrt(weights), "color": disc, "opacity": 0.5, "line": {"width": 0}},
    }
    at = points | {
        "mode": "markers+text",
        "name": "key",
        "text": [f"\u2003{name}: {value:g}" for name, value in zip(names, header["values"], strict=True)],
        "textposition": "middle right",
        "textfont": {"color": colour_of("value"), "size": NORMAL},
        "marker": {"color": PAPER, "size": 11, "line": {"color": key, "width": 2}},
        "customdata": told,
        "hovertemplate": "key %{x}, %{y}<br>" + TOLD,
    }
    asks = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "query",
        "x": [0, asked[0]],
        "y": [0, asked[1]],
        "hovertemplate": "query %{x}, %{y}",
        "line": {"color": query, "width": 3},
        "marker": {"color": query, "size": [0, 12]},
    }
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "weight",
        "x": weights,
        "y": names,
        "customdata": told,
        "hovertemplate": "key %{y}<br>" + TOLD,
        "texttemplate": "%{x:.4f} × %{customdata[0]:~g} = %{customdata[4]:.4~g}",
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": disc},
        "xaxis": "x2",
        "yaxis": "y2",
    }
    plane = {"range": header["plane"], "dtick": 1, "zeroline": True, "zerolinecolor": MUTED}
    layout = {
        "template": TEMPLATE,
        "height": 560,
        "showlegend": False,
        "title": note(
            f"temperature {header['temperature']:g};",
            f"answer = {header['answerText']}.",
            f"Hard look-up: {header['hardText']}.",
            "A disc’s area is its key’s weight.",
        ),
        "xaxis": plane | {"domain": [0, 0.55], "title": {"text": "dimension 1"}, "constrain": "domain"},
        "yaxis": plane | {"title": {"text": "dimension 2"}, "scaleanchor": "x", "constrain": "domain"},
        "xaxis2": {"domain": [0.65, 0.86], "anchor": "y2", "range": [0, 1], "title": {"text": "weight"}},
        "yaxis2": {"anchor": "x2", "autorange": "reversed", "type": "category", "title": {"text": "key"}},
    }
    traces: list[dict[str, Any]] = [discs, *lines, at, asks, bars]
    return go.Figure(data=traces, layout=layout)
