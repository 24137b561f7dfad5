"""One attention head, large: the weight of every query on every key."""

from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.figures import look
from tfm_ui.figures.look import Mode

PRINTED = 12  # up to so many tokens each cell prints its number
HATCHED = 24  # up to so many tokens masked cells are hatched
LABELLED = 28  # beyond, every second or third token only is named on the axes


def head_map(
    weights: NDArray[np.float32],
    visible: NDArray[np.bool_],
    queries: list[str],
    keys: list[str],
    *,
    top: float,
    mode: Mode = "light",
    formula: str = "softmax(q·k / √dₖ)",
    read_queries: int | None = None,
    compact: bool = False,
) -> go.Figure:
    """A heatmap of one head; trace 0 holds all the weights as float32, masked ones (exact zeros) included.

    Args:
        weights: (query, key).
        visible: (query, key), False where masked: covered in grey, a colour that is not of the scale.
        queries: a label per row.
        keys: a label per column.
        top: the weight at the dark end of the scale, which begins at 0.
        mode: "light" or "dark".
        formula: where a weight comes from, for the hover.
        read_queries: how many rows are tokens; the rest is padding, and dimmed.
        compact: for phones: lower, fewer labels, no numbers on the cells.
    """
    rows, columns = weights.shape
    size = max(rows, columns)
    small = size <= PRINTED
    gap = 2 if size <= 32 else 0
    base: dict[str, Any] = {
        "type": "heatmap",
        "x": [f"key {k + 1} “{escape(label)}”" for k, label in enumerate(keys)],  # what the hover calls them
        "y": [f"query {q + 1} “{escape(label)}”" for q, label in enumerate(queries)],
        "zmin": 0,
        "zmax": top,
        "xgap": gap,
        "ygap": gap,
        "showscale": False,
    }
    colours = look.scale(look.WEIGHTS[mode])
    masked = [[0, look.MASKED[mode]], [1, look.MASKED[mode]]]
    traces = [
        base
        | {
            "name": "weights",
            "z": weights.astype(np.float32),
            "colorscale": colours,
            "hovertemplate": f"%{{y}} → %{{x}}<br>weight <b>%{{z:.4f}}</b> = {formula}<extra></extra>",
            "showscale": True,
            "colorbar": _colour_bar(top, mode),
        },
        base
        | {
            "name": "masked",
            "z": np.where(visible, np.nan, 0).astype(np.float32),
            "colorscale": masked,
            "hoverongaps": False,
            "hovertemplate": "%{y} → %{x}<br><b>masked</b>: may not attend, weight 0<extra></extra>",
        },
    ]
    if small and not compact:
        printed = visible & (np.arange(rows) < (rows if read_queries is None else read_queries))[:, None]
        traces += [base | trace | {"colorscale": colours} for trace in _printed(weights, printed, top, mode)]
    return go.Figure({"data": traces, "layout": _layout(visible, queries, keys, mode, read_queries, compact)})


def _printed(weights: NDArray[np.float32], printed: NDArray[np.bool_], top: float, mode: Mode) -> list[dict[str, Any]]:
    """The cells that print their number again, in two traces: black ink and white, whichever reads better."""
    stops = look.WEIGHTS[mode]
    white = np.array([look.wants_white_ink(colour) for colour in stops])
    size = 15 if max(weights.shape) <= 8 else 13 if max(weights.shape) <= 10 else 11
    step = np.clip(np.round(weights / top * (len(stops) - 1)), 0, len(stops) - 1).astype(int)
    return [
        {
            "z": np.where(printed & (white[step] == is_white), weights, np.nan).astype(np.float32),
            "texttemplate": "%{z:.2f}",
            "textfont": {"color": ink, "size": size},
            "hoverinfo": "skip",
            "hoverongaps": False,
        }
        for is_white, ink in ((False, "#000000"), (True, "#FFFFFF"))
    ]


def _colour_bar(top: float, mode: Mode) -> dict[str, Any]:
    return {
        "orientation": "h",
        "x": 0.5,
        "y": -0.015,
        "yanchor": "top",
        "len": 0.5,
        "thickness": 10,
        "ypad": 0,
        "outlinewidth": 1,
        "outlinecolor": look.RULE[mode],
        "tickvals": [0, top / 2, top],
        "ticktext": ["0", "weight", look.weight(top)],
        "tickfont": {"color": look.MUTED[mode], "size": 13},
    }


def _layout(
    visible: NDArray[np.bool_], queries: list[str], keys: list[str], mode: Mode, read_queries: int | None, compact: bool
) -> dict[str, Any]:
    rows, columns = visible.shape
    size = max(rows, columns)
    width, height = (230, 260) if compact else (430, 350)  # what the cells may take, so that wide maps are not hollow
    size_of_cell = min(width / columns, height / rows)
    margin = 0.02 * size  # for the dots that mark the hovered row and column
    return {
        "height": 120 + size_of_cell * rows + (30 if compact else 0),
        "margin": {"l": 4, "r": 24, "t": 4, "b": 42},
        "paper_bgcolor": look.PAPER[mode],
        "plot_bgcolor": look.PAPER[mode],
        "font": {"family": look.FONT, "size": 15, "color": look.INK[mode]},
        "hoverlabel": {
            "bgcolor": look.PAPER[mode],
            "bordercolor": look.MUTED[mode],
            "font": {"family": look.FONT, "color": look.INK[mode], "size": 15},
            "align": "left",
        },
        "xaxis": _axis(keys, "key", "key (column): is looked at", mode, compact)
        | {
            "side": "top",
            "range": [-0.5 - margin, columns - 0.5],
            "tickangle": -90 if size > 12 or compact else -40 if size > 6 else 0,
        },
        "yaxis": _axis(queries, "query", "query (row): looks", mode, compact)
        | {"range": [rows - 0.5, -0.5 - margin], "scaleanchor": "x", "constraintoward": "top"},
        "shapes": [*_hatching(visible, mode), *_dimming(rows, columns, read_queries, mode)],
    }


def _axis(labels: list[str], role: str, title: str, mode: Mode, compact: bool) -> dict[str, Any]:
    colour = look.ROLE[mode][role]
    step = -(-len(labels) // (LABELLED // 2 if compact else LABELLED))  # rounded up
    shown = list(range(0, len(labels), step))
    return {
        "tickmode": "array",
        "type": "category",
        "tickvals": shown,
        "ticktext": [escape(labels[i]) for i in shown],
        "tickfont": {"color": colour, "size": 15 if len(labels) <= 12 else 13 if len(labels) <= 24 else 11},
        "title": {"text": title, "font": {"color": colour, "size": 14}, "standoff": 6},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
        "constrain": "domain",
        "showspikes": True,
        "spikemode": "marker",
        "spikesnap": "hovered data",
        "spikethickness": 6,
        "spikecolor": colour,
    }


def _hatching(visible: NDArray[np.bool_], mode: Mode) -> list[dict[str, Any]]:
    """Diagonal lines over masked cells: told apart without any colour."""
    if visible.all() or max(visible.shape) > HATCHED:
        return []
    strokes = ((0, 0.5, 0.5, 0), (0, 1, 1, 0), (0.5, 1, 1, 0.5))  # from (x, y) to (x, y), within a cell
    path = "".join(
        f"M{k - 0.5 + x0},{q - 0.5 + y0}L{k - 0.5 + x1},{q - 0.5 + y1}"
        for q, k in np.argwhere(~visible).tolist()
        for x0, y0, x1, y1 in strokes
    )
    return [{"type": "path", "path": path, "line": {"color": look.HATCH[mode], "width": 1}}]


def _dimming(rows: int, columns: int, read_queries: int | None, mode: Mode) -> list[dict[str, Any]]:
    """A veil over the rows of padding: they are computed, but nobody reads them."""
    if read_queries is None or read_queries >= rows:
        return []
    box = {"x0": -0.5, "x1": columns - 0.5, "y0": read_queries - 0.5, "y1": rows - 0.5}
    return [{"type": "rect", **box, "fillcolor": look.PAPER[mode], "opacity": 0.65, "line": {"width": 0}}]
