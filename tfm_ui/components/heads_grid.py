"""All heads of all layers as thumbnails on one canvas, in the browser; bytes in, the clicked head out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from tfm_ui.attention import Attention
from tfm_ui.components.canvas import Canvas, encode, standalone
from tfm_ui.figures import look
from tfm_ui.figures.look import Mode

GRID = Canvas(
    "heads_grid",
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


def payload(
    attention: Attention, about: list[str], *, top: NDArray[np.float32], picked: tuple[int, int] | None
) -> bytes:
    """What the browser gets; heads_grid.js says the format.

    Args:
        attention: the heads.
        about: a sentence per head, layer by layer.
        top: the weight at the end of each head's scale, (layer, head).
        picked: layer and head, from 0, that the page shows large, if it does.
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
        "topText": look.end_of_scale(top.max(), attention.largest.max()) if one_scale else "each head's largest",
        "about": about,
    }
    return encode(header, maps)


@dataclass(frozen=True)
class HeadsGrid:
    """The grid as a panel's picture.

    Attributes:
        data: its `payload`.
        on_pick: called with layer and head, from 0, when one is clicked, before the page runs.
    """

    data: bytes
    on_pick: Callable[[int, int], None] | None = None

    def draw(self, key: str, sentence: str) -> tuple[int, int] | None:
        """Put it on the page; the layer and head that were clicked to cause this run, if any."""

        def picked() -> None:
            if self.on_pick:
                self.on_pick(*st.session_state[key].picked)

        at: tuple[int, int] | None = GRID.mount(key=key, data=self.data, on_picked_change=picked).picked
        return at

    def page(self, title: str, sentence: str, mode: Mode) -> str:
        """As a page of its own."""
        return standalone(GRID, self.data, title=title, caption=sentence, mode=mode)
