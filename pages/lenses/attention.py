"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from collections.abc import Callable

import streamlit as st

from tfm_ui import controls, frame
from tfm_ui.attention_lens.state import AttentionState
from tfm_ui.attention_views import arcs, change, contribution, dictionary, scale, steps
from tfm_ui.attention_views.boxes import PREFIX, boxes
from tfm_ui.model_state import ModelState
from tfm_ui.presets.attention import ATTENTION

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
