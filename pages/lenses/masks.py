"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from collections.abc import Callable

import streamlit as st

from tfm_ui.lenses.masks.boxes import boxes
from tfm_ui.lenses.masks.conventions import panels as conventions
from tfm_ui.lenses.masks.leaks import panels as leaks
from tfm_ui.lenses.masks.padding import panels as padding
from tfm_ui.lenses.masks.presets import MASKS
from tfm_ui.lenses.masks.see import panels as see
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, frame
from tfm_ui.state.model_state import ModelState

VIEWS: dict[str, Callable[[ModelState], None]] = {
    "see": see.draw,
    "leaks": leaks.draw,
    "padding": padding.draw,
    "conventions": conventions.draw,
}


@frame.lens("masks")
def lens(model: ModelState) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model)
    with pills:
        frame.presets(MASKS, MasksState, PREFIX)


model = frame.model()
controls.open_link(MasksState, PREFIX, MasksState.limits(model))
shown = frame.run(model)
frame.title("Masks", shown)
if not frame.asks_for_text(model):
    lens(model)
