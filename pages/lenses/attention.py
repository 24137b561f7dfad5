"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from collections.abc import Callable

import streamlit as st

from tfm_ui.lenses.attention.arcs import panels as arcs
from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.lenses.attention.change import panels as change
from tfm_ui.lenses.attention.contribution import panels as contribution
from tfm_ui.lenses.attention.dictionary import panels as dictionary
from tfm_ui.lenses.attention.presets import ATTENTION
from tfm_ui.lenses.attention.scale import panels as scale
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import panels as steps
from tfm_ui.page import controls, frame
from tfm_ui.state.model_state import ModelState

VIEWS: dict[str, Callable[[ModelState], None]] = {
    "steps": steps.draw,
    "arcs": arcs.draw,
    "contribution": contribution.draw,
    "change": change.draw,
    "scale": scale.draw,
    "dictionary": dictionary.draw,
}


@frame.lens("attention")
def lens(model: ModelState) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model)
    with pills:
        frame.presets(ATTENTION, AttentionState, PREFIX)


model = frame.model()
controls.open_link(AttentionState, PREFIX, AttentionState.limits(model))
shown = frame.run(model)
frame.title("Attention", shown)
if not frame.asks_for_text(model):
    lens(model)
