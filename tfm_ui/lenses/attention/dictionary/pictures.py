"""A few keys in the plane with their values, a query to move, and what attention answers."""

import numpy as np

from tfm_ui.lenses.attention.dictionary.numbers import NAMES, Lookup, number
from tfm_ui.lenses.attention.state import PLANE, VALUES
from tfm_ui.pictures.canvas import Canvas, Content

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
)


def content(lookup: Lookup) -> Content:
    """What dictionary.js draws: per key q.k, score, weight, and weight times value."""
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
        "about": lookup.sentence,
    }
    columns = [lookup.products, lookup.scores, lookup.weights, lookup.weights * lookup.values]
    return header, np.stack(columns, -1).astype(np.float32)
