"""Charts in rows: a name at the left of each row, something over a common x axis, and a text after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfm_ui.pictures.figures import INK, NORMAL, PAPER, TEMPLATE, Figure, axis_title

AXIS, LEGEND = 60, 32  # the heights of the x axis with its title and of the legend, in pixels
LETTER = 0.55  # the width of a letter, as a share of its size


@dataclass(frozen=True)
class Name:
    """The name of what is in a row.

    Attributes:
        text: the name.
        row: where it stands; rows are counted from 0 at the top, and a name may stand between two.
        first: the first of several rows that share the name, if it is not `row`.
    """

    text: str
    row: float
    first: float | None = None


@dataclass(frozen=True)
class End:
    """A text in a row, after what is drawn there.

    Attributes:
        text: the text.
        row: the row, from 0 at the top.
        x: where it begins, as a value of the x axis; None for the right end of the chart.
        colour: its colour.
        size: the size of its letters, in pixels.
    """

    text: str
    row: float
    x: float | None = None
    colour: str = INK
    size: int = NORMAL


def in_rows(
    traces: Sequence[dict[str, Any]],
    *,
    names: Sequence[Name],
    ends: Sequence[End],
    last: float,
    pixels: int,
    axis: Mapping[str, Any],
    rows: str,
    **more: Any,
) -> Figure:
    """The figure of these traces, whose y are numbers of rows, from 0 at the top.

    Args:
        traces: what is drawn.
        names: the names at the left of the rows.
        ends: the texts after what is drawn.
        last: the number of the last row.
        pixels: the height of a row.
        axis: the x axis.
        rows: what is named at the left of the rows, as the title of the y axis.
        more: further parts of Plotly's layout.
    """
    has_legend = sum(bool(trace.get("name")) and trace.get("showlegend", True) for trace in traces) > 1
    texts = [
        {
            "text": end.text,
            "name": "end",
            "showarrow": False,
            "x": 1 if end.x is None else end.x,
            "xref": "paper" if end.x is None else "x",
            "y": end.row,
            "xanchor": "left",
            "xshift": 6,
            "bgcolor": PAPER,  # no line of the grid runs through it
            "borderpad": 0,
            "font": {"size": end.size, "color": end.colour},
        }
        for end in ends
    ]
    return {
        "data": list(traces),
        "layout": {
            "template": TEMPLATE,
            "meta": {
                "kind": "rows",
                "pixels": pixels,
                "firsts": [name.row if name.first is None else name.first for name in names],
            },
            "barmode": "overlay",
            "hovermode": "closest",
            "showlegend": has_legend,
            "legend": {"y": 1, "yanchor": "bottom", "x": 0},
            "height": (last + 1) * pixels + AXIS + LEGEND * has_legend,
            "margin": {
                "t": 8 + LEGEND * has_legend,
                "r": 12 + max((len(end.text) * end.size * LETTER for end in ends), default=0),
            },
            "xaxis": dict(axis),
            "yaxis": {
                "range": [last + 0.5, -0.5],
                "tickvals": [name.row for name in names],
                "ticktext": [name.text for name in names],
                "tickfont": {"size": NORMAL, "color": INK},
                "title": axis_title(rows),
                "ticklabelstandoff": 6,
                "showgrid": False,
                "fixedrange": True,
            },
            "uirevision": "same",
            **more,
            "annotations": [*texts, *more.get("annotations", ())],
        },
    }
