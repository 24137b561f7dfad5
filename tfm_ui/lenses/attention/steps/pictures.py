"""A head's matrices beside each other: the cell in focus and what fed it lit; numbers in, parameters out."""

from typing import Any

import numpy as np

from tfm_ui.lenses.attention.state import STEPS
from tfm_ui.lenses.attention.steps.formula import code, lines_of
from tfm_ui.lenses.attention.steps.matrices import MATRICES
from tfm_ui.lenses.attention.steps.numbers import WHAT, Steps, what
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.text import look

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
)


def content(shown: Steps, *, prefix: str) -> Content:
    """What matrices.js draws.

    Args:
        shown: the step.
        prefix: of the parameters that a click changes.
    """
    arrays, matrices, begin = [], {}, 0
    for name in shown.scene:
        if name in MATRICES and name not in matrices:
            numbers = shown.numbers(name)
            if MATRICES[name].weights:  # zeros by the mask are no weights
                numbers = np.where(shown.visible, numbers, -np.inf)
            arrays.append(np.ascontiguousarray(numbers, np.float32).ravel())
            matrices[name] = _about(shown, name, numbers, begin)
            begin += numbers.size
    one, derived = shown.one, shown.derivation
    header: dict[str, Any] = {
        "prefix": prefix,
        "steps": STEPS,
        "step": shown.step,
        "whole": shown.whole,
        "scene": shown.scene,
        "matrices": matrices,
        "queries": one.queries[shown.windows["query"]],
        "keys": one.keys[shown.windows["key"]],
        "starts": {axis: part.start for axis, part in shown.windows.items()},
        "ends": shown.sizes,
        "headDim": one.head_dim,
        "lit": shown.lit(),
        "temperature": one.temperature,
        "title": derived.title,
        "lines": derived.lines,
        "code": code(lines_of(one, shown.step)),
        "about": shown.sentence,
    }
    return header, np.concatenate(arrays)


def _about(shown: Steps, name: str, numbers: np.ndarray[Any, Any], begin: int) -> dict[str, Any]:
    matrix, finite = MATRICES[name], numbers[np.isfinite(numbers)]
    top = float(np.abs(finite).max()) if finite.size else 0.0
    return {
        "symbol": matrix.symbol,
        "name": name,
        "what": what(name, shown.one) if name in WHAT else _operand(shown, name),
        "shape": shown.shape(name),
        "axes": matrix.axes,
        "role": matrix.role,
        "weights": matrix.weights,
        "begin": begin,
        "rows": numbers.shape[0],
        "columns": numbers.shape[1],
        "top": top or 1.0,
        "topText": look.weight(top) if matrix.weights else look.number(top),
    }


def _operand(shown: Steps, name: str) -> str:
    """What a matrix is that no step makes."""
    if name == "bias":
        return f"Added to the scores by {shown.one.positional}."
    if name.endswith("weights"):
        return (
            f"Parameters of the model, of {name.removesuffix(' weights')}_projection: nothing made them but the seed."
        )
    told = {"key transposed": "The keys, a column each.", "memory": "What the encoder made of the text."}
    return told.get(name, "0 where a query may look at a key, −∞ where not.")
