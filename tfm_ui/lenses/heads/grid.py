"""The picture of all heads of all layers as thumbnails; a click on a thumbnail picks the head."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.live.attention import MASKED, Attention, Summary
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.text import formats


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
    weights = numbers.reshape(-1, rows, columns) * (largest / (MASKED - 1))[:, None, None]
    weights[numbers.reshape(weights.shape) == MASKED] = np.nan
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
    told = f"Weights are rounded to 1/{MASKED - 1} of each head’s largest."
    if block > 1:
        told += f" Pooled: a cell is the largest of {block} × {block} weights."
    if header["read"] < rows:
        told += " Rows of padding are computed, but nothing reads them."
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


def content(
    attention: Attention,
    kept: Summary,
    about: list[str],
    *,
    top: NDArray[np.float32],
    picked: tuple[int, int] | None,
) -> Content:
    """The content for heads_grid.js.

    Args:
        attention: the heads.
        kept: a map and numbers of each.
        about: a sentence for each head, layer by layer.
        top: the weight at the end of each head's scale, (layer, head).
        picked: layer and head, from 0, of the head that the page shows large, if there is one.
    """
    maps = np.stack([layer.maps for layer in kept.layers])
    layers, heads, rows, columns = maps.shape
    one_scale = top.min() == top.max()
    header = {
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": attention.block,
        "read": -(-attention.read // attention.block),  # rounded up
        "largest": kept.largest.flatten().tolist(),
        "ends": (kept.largest / top).flatten().tolist(),
        "picked": picked,
        "masked": bool(~attention.visible.all()),
        "topText": formats.end_of_scale(top.max(), kept.largest.max()) if one_scale else "each head's largest",
        "about": about,
    }
    return header, maps
