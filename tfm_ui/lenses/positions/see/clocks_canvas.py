"""Pairs of dimensions as clocks with two hands, and sliders that move them along the positions."""

import numpy as np
import torch

from tfm_ui.lenses.positions.see.clocks import Clocks
from tfm_ui.pictures.canvas import Canvas, Content

CLOCKS = Canvas(
    "lenses/positions/clocks",
    """
<div class="clocks" data-picture>
  <div class="drive">
    <label class="query"><span></span><input type="range" min="0"></label>
    <label class="key"><span></span><input type="range" min="0"></label>
    <button class="together" aria-pressed="false">Move both</button>
    <button class="play">Play</button>
    <span class="apart"></span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
)


def content(clocks: Clocks | None, *, query: str, key: str) -> Content:
    """What clocks.js draws.

    Args:
        clocks: the hands; none of a scheme that has been left, as the page is about to take the picture away.
        query: the parameter of the query's position.
        key: of the key's.
    """
    if clocks is None:
        none = {"about": "", "pairs": [], "count": 0, "wavelengths": [], "at": {"query": 0, "key": 0}, "last": 0}
        return {**none, "parameters": {"query": query, "key": key}}, np.zeros(0, np.float32)
    shown = clocks.shown
    header = {
        "about": clocks.sentence(),
        "pairs": shown.tolist(),
        "count": clocks.pairs,
        "wavelengths": clocks.wavelengths[shown].tolist(),
        "at": {"query": clocks.at, "key": clocks.key_at},
        "parameters": {"query": query, "key": key},
        "last": clocks.length - 1,
    }
    hands = torch.cat([clocks.query, clocks.key, clocks.between[:, None].float()], 1)
    return header, hands[shown].numpy()
