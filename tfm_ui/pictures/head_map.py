"""One head, large: a cell per query and key, with its exact weight."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.text import formats

MASKED = -1.0  # in place of the weight of a masked cell
PADDING = "Rows of padding are computed, but nothing reads them."


def head_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The weights of the head."""
    queries, keys = header["queries"], header["keys"]
    weights = numbers.reshape(len(queries), len(keys))
    heat = Heat(
        name="",
        values=np.where(weights == MASKED, np.float32(np.nan), weights),
        rows=Side(labels=numbered(queries), title="query (row): looks", noun="query", role="query"),
        columns=Side(labels=numbered(keys), title="key (column): is looked at", noun="key", role="key"),
        scale=from_zero(header["top"]),
        unit="weight",
    )
    padding = "" if header["read"] == len(queries) else PADDING
    return heatmaps.figure([heat], told=f"A weight is {header['formula']}. {padding}")


MAP = Canvas("lenses/heads/head_map", f'<div class="map" data-picture>{CELLS}</div>', head_figure)


def content(
    weights: NDArray[np.float32],
    visible: NDArray[np.bool_],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    read: int,
    top: float,
    formula: str,
) -> Content:
    """The weights, and the names of rows and columns.

    Args:
        weights: (query, key).
        visible: boolean (query, key), False where masked.
        queries: a label for each row.
        keys: a label for each column.
        read: how many of the rows are tokens; the rest is padding.
        top: the weight at the dark end of the colour scale.
        formula: how a weight is computed.
    """
    header = {
        "queries": queries,
        "keys": keys,
        "read": read,
        "top": top,
        "topText": formats.end_of_scale(top, weights.max()),
        "formula": formula,
    }
    return header, np.where(visible, weights, np.float32(MASKED))
