"""A few keys in the plane with their values, a query to move, and what attention answers."""

import numpy as np

from tfm_ui.lenses.attention.dictionary.figure import dictionary_figure
from tfm_ui.lenses.attention.dictionary.numbers import NAMES, look_up, number
from tfm_ui.lenses.attention.state import PLANE, VALUES, AttentionState
from tfm_ui.live.memory import little
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

DICTIONARY = Canvas(
    "lenses/attention/dictionary",
    """
<div class="dictionary" data-picture>
  <div class="plane"><canvas role="img"></canvas></div>
  <div class="book">
    <div class="warm">
      <span>temperature <b></b></span>
      <small>harder</small>
      <input type="range" min="-1.30103" max="1" step="0.01" aria-label="temperature">
      <small>softer</small>
    </div>
    <div class="entries"></div>
    <p class="answer"></p>
    <p class="hard"></p>
    <button class="add">+ Add a key</button>
  </div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    dictionary_figure,
)


def content(model: ModelState, state: AttentionState) -> Content:
    """What dictionary.js draws: per key q.k, score, weight, and weight times value."""
    lookup = look_up(state)
    header = {
        "names": list(NAMES),
        "keys": lookup.keys.tolist(),
        "values": lookup.values.tolist(),
        "asked": list(lookup.query),
        "temperature": lookup.temperature,
        "answerText": number(lookup.answer),
        "hardText": lookup.hard_text,
        "plane": PLANE,
        "most": VALUES[1],
        "about": lookup.sentence(),
    }
    columns = [lookup.products, lookup.scores, lookup.weights, lookup.weights * lookup.values]
    return header, np.stack(columns, -1).astype(np.float32)


PICTURES = {"dictionary": Picture(DICTIONARY, content, uses_model=False, needs=little)}
