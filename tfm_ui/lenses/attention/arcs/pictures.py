"""Who looks at whom, as lines from queries to keys: all that is done with them is done in the browser."""

import numpy as np

from tfm_ui.lenses.attention.arcs.figure import arcs_figure
from tfm_ui.lenses.attention.arcs.numbers import arcs
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

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
    arcs_figure,
)


def content(model: ModelState, state: AttentionState) -> Content:
    """What arcs.js draws; a long text opens at the link's query and key."""
    shown = arcs(model, state)
    lines = shown.lines
    header = {
        "queries": shown.queries,
        "keys": shown.keys,
        "read": [shown.read, shown.read_keys],
        "seen": shown.visible.sum(1).tolist(),
        "maps": shown.names,
        "heads": shown.how == "heads",
        "kept": lines.keys.shape[-1],
        "at": (state.query, state.key),
        "about": shown.sentence(),
    }
    parts = (lines.rest, lines.weights, lines.keys)
    return header, np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8)


PICTURES = {"arcs": Picture(ARCS, content, needs=and_scores(1))}
