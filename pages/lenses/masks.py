"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from collections.abc import Callable

import streamlit as st

from tfm_ui import controls, frame
from tfm_ui.masks_lens.state import PREFIX, MasksState
from tfm_ui.masks_views import conventions, leaks, padding, see
from tfm_ui.masks_views.boxes import boxes
from tfm_ui.model_state import ModelState
from tfm_ui.presets.masks import MASKS

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
