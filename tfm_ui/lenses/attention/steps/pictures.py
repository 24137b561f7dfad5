"""The picture of a head's matrices: the cell in focus and what it was computed from are lit.

A click in the picture sets the link's parameters of the cell.
"""

from typing import Any

import numpy as np

from tfm_ui.lenses.attention.state import PREFIX, STEPS, AttentionState
from tfm_ui.lenses.attention.steps.figure import matrices_figure
from tfm_ui.lenses.attention.steps.formula import code, lines_of
from tfm_ui.lenses.attention.steps.matrices import MATRICES
from tfm_ui.lenses.attention.steps.numbers import Steps, steps
from tfm_ui.lenses.attention.steps.scenes import WHAT, what
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MATRICES_CANVAS = Canvas(
    "lenses/attention/matrices",
    """
<div class="matrices" data-picture>
  <div class="bar">
    <span class="walk">
      <button class="back" aria-label="Step back">‹</button>
      <span class="chips" role="tablist" aria-label="Steps"></span>
      <button class="next" aria-label="Step on">›</button>
    </span>
    <span class="modes"><button class="play"></button><button class="all"></button></span>
    <label class="warmth">temperature <input type="range" min="-13" max="10" step="1"> <output></output></label>
  </div>
  <div class="body">
    <div class="scene"></div>
    <div class="derived" aria-live="polite">
      <h4></h4>
      <div class="lines"></div>
      <pre><code></code></pre>
    </div>
  </div>
  <div class="tip" hidden></div>
</div>
""",
    matrices_figure,
)


def content(model: ModelState, state: AttentionState) -> Content:
    """What matrices.js draws: one head, number by number."""
    shown = steps(model, state)
    arrays, matrices, begin = [], {}, 0
    for name in shown.scene:
        if name in MATRICES and name not in matrices:
            numbers = shown.numbers(name)
            if MATRICES[name].weights:  # zeros by the mask are no weights
                numbers = np.where(shown.visible, numbers, -np.inf)
            arrays.append(np.ascontiguousarray(numbers, np.float32).ravel())
            matrices[name] = _about(shown, name, numbers, begin)
            begin += numbers.size
    head, derived = shown.head, shown.derivation
    header: dict[str, Any] = {
        "prefix": PREFIX,
        "steps": STEPS,
        "step": shown.step,
        "whole": shown.whole,
        "scene": shown.scene,
        "matrices": matrices,
        "queries": head.queries[shown.windows["query"]],
        "keys": head.keys[shown.windows["key"]],
        "starts": {axis: part.start for axis, part in shown.windows.items()},
        "ends": shown.sizes,
        "headDim": head.head_dim,
        "lit": shown.lit(),
        "temperature": head.temperature,
        "title": derived.title,
        "lines": derived.lines,
        "code": code(lines_of(head, shown.step)),
        "about": shown.about_cell(),
    }
    return header, np.concatenate(arrays)


def _about(shown: Steps, name: str, numbers: np.ndarray[Any, Any], begin: int) -> dict[str, Any]:
    matrix, finite = MATRICES[name], numbers[np.isfinite(numbers)]
    top = float(np.abs(finite).max()) if finite.size else 0.0
    return {
        "symbol": matrix.symbol,
        "name": name,
        "what": what(name, shown.head) if name in WHAT else _operand(shown, name),
        "shape": shown.shape(name),
        "axes": matrix.axes,
        "role": matrix.role,
        "weights": matrix.weights,
        "begin": begin,
        "rows": numbers.shape[0],
        "columns": numbers.shape[1],
        "top": top or 1.0,
        "topText": formats.weight(top) if matrix.weights else formats.number(top),
    }


def _operand(shown: Steps, name: str) -> str:
    """A sentence on what a matrix is that no step makes: parameters, or what a step is given."""
    if name == "bias":
        return f"Added to the scores by {shown.head.positional}."
    if name.endswith("weights"):
        parameters = f"The model’s parameters of {name.removesuffix(' weights')}_projection"
        return f"{parameters}, {shown.model.if_random('drawn at random from the seed', 'as training has left them')}."
    told = {
        "key transposed": "The keys, one in each column.",
        "memory": "The encoder’s output: a vector per token of the text.",
    }
    return told.get(name, "Added to the scores: 0 where a query may look at a key, −∞ where it may not.")


PICTURES = {"steps": Picture(MATRICES_CANVAS, content, needs=and_scores(1))}
