"""The picture of all heads of all layers as thumbnails; a click on a thumbnail picks the head."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.live.attention import Attention
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.text import formats

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
)


def content(
    attention: Attention, about: list[str], *, top: NDArray[np.float32], picked: tuple[int, int] | None
) -> Content:
    """The content for heads_grid.js.

    Args:
        attention: the heads.
        about: a sentence for each head, layer by layer.
        top: the weight at the end of each head's scale, (layer, head).
        picked: layer and head, from 0, of the head that the page shows large, if there is one.
    """
    maps = np.stack([layer.maps for layer in attention.layers])
    layers, heads, rows, columns = maps.shape
    one_scale = top.min() == top.max()
    header = {
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "block": attention.block,
        "read": -(-attention.read // attention.block),  # rounded up
        "ends": (attention.largest / top).flatten().tolist(),
        "picked": picked,
        "masked": bool(~attention.visible.all()),
        "topText": formats.end_of_scale(top.max(), attention.largest.max()) if one_scale else "each head's largest",
        "about": about,
    }
    return header, maps
