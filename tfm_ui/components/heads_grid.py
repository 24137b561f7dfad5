"""All heads of all layers as thumbnails on one canvas, in the browser; bytes in, the clicked head out."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from tfm_ui.figures import look

ASSETS = Path(__file__).parents[2] / "assets"
MASKED = 255  # the byte that is no weight

HTML = """
<div class="heads">
  <div class="scroll"><div class="cells"></div></div>
  <div class="glass" hidden><b></b><canvas></canvas><p></p></div>
  <div class="foot">
    <span class="bar">0 <i></i> <b></b> weight</span><span class="chip"><i></i> masked</span>
    <span class="pooled" hidden>pooled: the largest of <b></b> cells</span>
    <span class="say" aria-live="polite"></span>
  </div>
</div>
"""
SKIN = {
    mode: {
        "weights": look.WEIGHTS[mode],
        "masked": look.MASKED[mode],
        "hatch": look.HATCH[mode],
        "rule": look.RULE[mode],
        "muted": look.MUTED[mode],
        "ring": look.RING,
        "ringInk": look.RING_INK,
    }
    for mode in look.PAPER
}

_component = st.components.v2.component(
    "heads_grid",
    html=HTML,
    css=(ASSETS / "heads_grid.css").read_text(encoding="utf-8"),
    js=(ASSETS / "heads_grid.js").read_text(encoding="utf-8"),
)


def payload(
    weights: NDArray[np.float32],
    visible: NDArray[np.bool_],
    about: list[str],
    *,
    top: NDArray[np.float32],
    picked: tuple[int, int] | None,
    read_queries: int,
) -> bytes:
    """What the browser gets: a header in JSON, then a byte per cell; heads_grid.js says the format.

    Args:
        weights: (layer, head, query, key).
        visible: (query, key), False where masked.
        about: a sentence per head, layer by layer.
        top: the weight at the end of each head's scale, (layer, head, 1, 1).
        picked: layer and head, from 0, that the page shows large, if it does.
        read_queries: how many rows are tokens and no padding.
    """
    layers, heads, queries, keys = weights.shape
    header = {
        "layers": layers,
        "heads": heads,
        "queries": queries,
        "keys": keys,
        "read": read_queries,
        "picked": picked,
        "masked": bool(~visible.all()),
        "topText": look.weight(top.max()) if top.min() == top.max() else "each head's largest",
        "about": about,
        "skin": SKIN,
    }
    text = json.dumps(header).encode()
    steps = np.round(np.minimum(weights / top, 1) * (MASKED - 1))
    cells = np.where(visible, steps, MASKED).astype(np.uint8)
    return len(text).to_bytes(4, "little") + text + cells.tobytes()


def heads_grid(data: bytes, *, key: str, on_pick: Callable[[int, int], None] | None = None) -> tuple[int, int] | None:
    """Draw the grid. A click gives layer and head, from 0: to `on_pick` before the next run, and to that run itself."""

    def picked() -> None:
        if on_pick:
            on_pick(*st.session_state[key].picked)

    at: tuple[int, int] | None = _component(key=key, data=data, on_picked_change=picked).picked
    return at
