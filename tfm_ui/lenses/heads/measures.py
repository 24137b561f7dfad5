"""What lessons measure on the page of the Heads lens."""

from collections.abc import Callable, Mapping

import numpy as np

from tfm_ui.lenses.heads.panels import Head
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState

DIGITS = 6  # to which rows are compared: float32 has seven


def rows_of_first_token(model: ModelState, state: HeadsState) -> int:
    """How many different rows of weights the head on screen has for the tokens that are the same as the first one."""
    head = Head(model, state)
    names = [name.rstrip("₀₁₂₃₄₅₆₇₈₉") for name in head.queries]
    rows = [head.weights[at] for at, name in enumerate(names) if name == names[0]]
    return len(np.unique(np.round(rows, DIGITS), axis=0)) if rows else 0


MEASURES: Mapping[str, Callable[[ModelState, HeadsState], float | str]] = {
    measure.__name__: measure for measure in (rows_of_first_token,)
}
