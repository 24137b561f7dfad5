"""All heads as thumbnails: a row of them per layer, and what each does in a sentence."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.live.all_heads import AllHeads
from tfm_ui.live.attention import MASKED as MASKED_CELL
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.head_map import PADDING
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
    weights = numbers.reshape(-1, rows, columns) * (largest / (MASKED_CELL - 1))[:, None, None]
    weights[numbers.reshape(weights.shape) == MASKED_CELL] = np.nan
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
    told = f"Weights are rounded to 1/{MASKED_CELL - 1} of each head’s largest."
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


def content(heads: AllHeads, top: NDArray[np.float32], picked: tuple[int, int] | None = None) -> Content:
    """The grid of all heads, with a ring around the locked one, and a sentence for each.

    Args:
        heads: the heads.
        top: (layer, head), the weight at the dark end of each one's scale.
        picked: layer and head of the locked one, from 0.
    """
    attention, largest = heads.attention, heads.kept.largest
    maps = np.stack([layer.maps for layer in heads.kept.layers])
    layers, across, rows, columns = maps.shape
    one_scale = top.min() == top.max()
    header = {
        "layers": layers,
        "heads": across,
        "rows": rows,
        "columns": columns,
        "block": attention.block,
        "read": -(-heads.read // attention.block),  # rounded up
        "largest": largest.flatten().tolist(),
        "ends": (largest / top).flatten().tolist(),
        "picked": picked,
        "masked": bool(~attention.visible.all()),
        "topText": formats.end_of_scale(top.max(), largest.max()) if one_scale else "each head's largest",
        "about": [heads.sentence_of(*at) for at in heads.places],
    }
    return header, maps
