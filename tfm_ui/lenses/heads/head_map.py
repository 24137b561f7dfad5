"""The picture of one head, large: exact weights, with the names of rows and columns."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.heads.numbers import LargeHead
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.text import formats

MASKED = -1.0  # in place of the weight of a masked cell


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
    padding = "" if header["read"] == len(queries) else "Rows of padding are computed, but nothing reads them."
    return heatmaps.figure([heat], told=f"A weight is {header['formula']}. {padding}")


MAP = Canvas("lenses/heads/head_map", f'<div class="map" data-picture>{CELLS}</div>', head_figure)


def content(head: LargeHead, *, top: float, about: str) -> Content:
    """The content for head_map.js.

    Args:
        head: the exact weights, and the names of rows and columns.
        top: the weight at the dark end of the scale, which begins at 0.
        about: the picture in words.
    """
    header = {
        "queries": head.queries,
        "keys": head.keys,
        "read": head.read,
        "top": top,
        "topText": formats.end_of_scale(top, head.weights.max()),
        "formula": head.formula,
        "about": about,
    }
    return header, np.where(head.visible, head.weights, np.float32(MASKED))
