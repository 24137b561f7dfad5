"""The way of a token through a model, as rows of boxes, with marks where positional schemes enter."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.positions.model.entry import Diagram
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, PAPER, TEMPLATE, colour_of, plain
from tfm_ui.text import formats

COLOURS = {"A": colour_of("head 1"), "B": colour_of("head 2")}  # of the sides, as everywhere on the page
ROW, MARGINS = 110, 130  # heights in pixels


def entry_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A row of boxes per part of the model, as dots on a line; where a scheme enters, a large dot in its colour."""
    rows = header["rows"]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": plain(row["title"]),
            "x": list(range(1, len(row["steps"]) + 1)),
            "y": [plain(row["title"])] * len(row["steps"]),
            "text": [_box(step) for step in row["steps"]],
            "customdata": [_told(step, header["layers"]) for step in row["steps"]],
            "hovertemplate": "%{customdata}<extra></extra>",
            "textposition": ["top center" if i % 2 else "bottom center" for i in range(len(row["steps"]))],
            "line": {"color": MUTED, "width": 1.5},
            "marker": {
                "color": [_colour(step) for step in row["steps"]],
                "size": [18 if step["marks"] else 11 for step in row["steps"]],
                "symbol": ["square-open" if step["place"] and not step["marks"] else "square" for step in row["steps"]],
                "line": {"color": PAPER, "width": 0},
            },
        }
        for row in rows
    ]
    most = max(len(row["steps"]) for row in rows)
    layout = {
        "template": TEMPLATE,
        "height": MARGINS + ROW * len(rows),
        "showlegend": False,
        "xaxis": {
            "title": {"text": "the way of a token, from left to right"},
            "range": [0.3, most + 0.7],
            "showgrid": False,
            "showticklabels": False,
        },
        "yaxis": {"title": {"text": "part"}, "type": "category", "showgrid": False, "range": [len(rows) - 0.4, -0.6]},
    }
    return go.Figure(data=traces, layout=layout)


def _colour(step: Header) -> str:
    return COLOURS[step["marks"][0][0]] if step["marks"] else MUTED


def _box(step: Header) -> str:
    """The box's text, and which schemes enter there."""
    marks = (f"<b>{side}: {plain(name)}</b>" for side, name in step["marks"])
    return "<br>".join([plain(step["text"]), *marks])


def _told(step: Header, layers: int) -> str:
    """All that the drawing tells of a box."""
    told = [_box(step), *([plain(step["note"])] if step["note"] else [])]
    if step["layer"]:
        told.append(f"in each of {formats.plural(layers, 'layer')}" if layers > 1 else "in the one layer")
    return "<br>".join(told)


ENTRY = Canvas(
    "lenses/positions/entry", '<div class="entry" data-picture><canvas role="img"></canvas></div>', entry_figure
)


def content(diagram: Diagram) -> Content:
    """What entry.js draws."""
    rows: list[dict[str, Any]] = [
        {"title": title, "steps": [{**vars(step), "marks": list(step.marks.items())} for step in steps]}
        for title, steps in diagram.rows.items()
    ]
    return {"rows": rows, "layers": diagram.layers, "about": diagram.about}, np.zeros(0, np.float32)
