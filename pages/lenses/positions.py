"""The Positions lens: what the encodings are, why they work, and what they do in a model."""

from collections.abc import Callable

import streamlit as st

from tfm_ui import controls, frame
from tfm_ui.model_state import ModelState
from tfm_ui.positions_lens.state import PREFIX, PositionsState
from tfm_ui.positions_views import beyond, fault, in_model, see, table, why
from tfm_ui.positions_views.boxes import boxes
from tfm_ui.presets.positions import POSITIONS

VIEWS: dict[str, Callable[[ModelState], None]] = {
    "see": see.draw,
    "why": why.draw,
    "model": in_model.draw,
    "beyond": beyond.draw,
    "fault": fault.draw,
    "table": table.draw,
}


@frame.lens("positions")
def lens(model: ModelState) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model)
    with pills:
        frame.presets(POSITIONS, PositionsState, PREFIX)


model = frame.model()
controls.open_link(PositionsState, PREFIX, PositionsState.limits(model))
shown = frame.run(model)
frame.title("Positions", shown)
if not frame.asks_for_text(model):
    lens(model)
