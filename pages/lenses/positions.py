"""The Positions lens: what the encodings are, why they work, and what they do in a model."""

from collections.abc import Callable

import streamlit as st

from tfm_ui.lenses.positions.beyond import panels as beyond
from tfm_ui.lenses.positions.boxes import boxes
from tfm_ui.lenses.positions.fault import panels as fault
from tfm_ui.lenses.positions.in_model import panels as in_model
from tfm_ui.lenses.positions.presets import POSITIONS
from tfm_ui.lenses.positions.see import panels as see
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.table import panels as table
from tfm_ui.lenses.positions.why import panels as why
from tfm_ui.page import controls, frame
from tfm_ui.state.model_state import ModelState

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
