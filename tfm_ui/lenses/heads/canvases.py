"""How the heads are drawn: all of them as thumbnails, and one of them large, with the names of rows and columns."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.live import attention
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Header
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero

MASKED = -1.0  # in place of the weight of a masked cell of the large map
PADDING = "Rows of padding are computed, but nothing reads them."


def grid_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per head, a row of them per layer."""
    heads, rows, columns, block = (header[name] for name in ("heads", "rows", "columns", "block"))
    sides = [
        Side(
            labels=[str(i * block + 1) for i in range(count)], title=noun, noun=noun if block == 1 else many, role=noun
        )
        for count, noun, many in ((rows, "query", "queries from"), (columns, "key", "keys from"))
    ]
    largest, ends = np.array(header["largest"], np.float32), np.array(header["ends"], np.float32)
    weights = numbers.reshape(-1, rows, columns) * (largest / (attention.MASKED - 1))[:, None, None]
    weights[numbers.reshape(weights.shape) == attention.MASKED] = np.nan
    drawn = [
        Heat(
            name=f"L{i // heads + 1} h{i % heads + 1}",
            values=weights[i],
            rows=sides[0],
            columns=sides[1],
            scale=from_zero(top),
            unit="weight",
        )
        for i, top in enumerate((largest / ends).tolist())
    ]
    told = f"Weights are rounded to 1/{attention.MASKED - 1} of each head’s largest."
    if block > 1:
        told += f" Pooled: a cell is the largest of {block} × {block} weights."
    if header["read"] < rows:
        told += f" {PADDING}"
    return heatmaps.figure(drawn, told=told, across=heads, named=False)


GRID = Canvas(
    "lenses/heads/heads_grid",
    """
<div class="heads" data-picture>
  <div class="scroll"><div class="cells"></div></div>
  <div class="glass" hidden><b></b><canvas></canvas><p></p></div>
  <div class="foot">
    <span class="bar">0 <i></i> <b></b> weight</span><span class="chip"><i></i> masked</span>
    <span class="exact"></span>
    <span class="say" aria-live="polite"></span>
  </div>
</div>
""",
    grid_figure,
)


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
