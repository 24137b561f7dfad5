"""Who looks at whom, as lines from queries to keys: all that is done with them is done in the browser."""

import numpy as np

from tfm_ui.lenses.attention.arcs.numbers import ArcsView
from tfm_ui.pictures.canvas import Canvas, Content

ARCS = Canvas(
    "lenses/attention/arcs",
    """
<div class="arcs" data-picture>
  <div class="tools">
    <span class="chips" role="group" aria-label="Heads shown"></span>
    <label class="mass">Draw of each row <input type="range" min="5" max="100" step="1"> <b></b></label>
    <span class="hide" role="group" aria-label="Not drawn">
      <button data-hide="padding">hide padding</button> <button data-hide="first">hide first token</button>
      <button class="clear" hidden>clear selection</button>
    </span>
    <span class="window"><span></span>
      <button data-by="-1" aria-label="Tokens before">↑</button><button data-by="1" aria-label="Tokens after">↓</button>
    </span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <p class="say" aria-live="polite"></p>
  <div class="foot"></div>
</div>
""",
)


def content(view: ArcsView, *, at: tuple[int, int], about: str) -> Content:
    """What arcs.js draws.

    Args:
        view: the weights, and the names of rows, columns and maps.
        at: the query and the key, from 1, that a long text opens at.
        about: the picture in words.
    """
    lines = view.kept
    header = {
        "queries": view.queries,
        "keys": view.keys,
        "read": [view.read, view.read_keys],
        "seen": view.visible.sum(1).tolist(),
        "maps": view.names,
        "heads": view.lines == "heads",
        "kept": lines.keys.shape[-1],
        "at": at,
        "about": about,
    }
    parts = (lines.rest, lines.weights, lines.keys)
    return header, np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8)
