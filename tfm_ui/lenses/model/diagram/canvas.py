"""The diagram's canvas: rows of boxes for diagram.js, and the same as a Plotly figure."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Canvas, Header
from tfm_ui.pictures.figures import MUTED, TEMPLATE, plain

ROW, MARGINS = 44, 130  # heights in pixels


def diagram_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A column of boxes per stack, each a dot with its name, and its numbers below the pointer."""
    stacks = header["stacks"]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": plain(stack["title"]),
            "x": [plain(stack["title"])] * len(stack["rows"]),
            "y": list(range(len(stack["rows"]))),
            "text": [plain(row["text"]) for row in stack["rows"]],
            "customdata": [_told(row, header["columns"]) for row in stack["rows"]],
            "hovertemplate": "%{customdata}<extra></extra>",
            "textposition": "middle right",
            "line": {"color": MUTED, "width": 1.5},
            "marker": {"color": MUTED, "size": 10, "symbol": "square"},
        }
        for stack in stacks
    ]
    layout = {
        "template": TEMPLATE,
        "height": MARGINS + ROW * max(len(stack["rows"]) for stack in stacks),
        "showlegend": False,
        "xaxis": {
            "title": {"text": "stack"},
            "type": "category",
            "showgrid": False,
            "range": [-0.3, len(stacks) - 0.2],
        },
        "yaxis": {"title": {"text": "from the tokens upwards"}, "showgrid": False, "showticklabels": False},
    }
    return go.Figure(data=traces, layout=layout)


def _told(row: Header, columns: Sequence[str]) -> str:
    """All that the drawing tells of a row."""
    cells = [f"{plain(name)}: {plain(long)}" for name, (long, _) in zip(columns, row["cells"], strict=False) if long]
    return "<br>".join([plain(" ".join(filter(None, (row["text"], row["mark"])))), *cells])


DIAGRAM = Canvas(
    "lenses/model/diagram",
    '<div class="diagram" data-picture><canvas role="img"></canvas><div class="boxes"></div></div>',
    diagram_figure,
)
