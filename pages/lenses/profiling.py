"""The Profiling lens: what a configuration costs, measured beside theory."""

from collections.abc import Callable

import streamlit as st

from tfm_ui.lenses.profiling.boxes import boxes
from tfm_ui.lenses.profiling.compare import panels as compare
from tfm_ui.lenses.profiling.length import panels as length
from tfm_ui.lenses.profiling.parts import panels as parts
from tfm_ui.lenses.profiling.presets import PROFILING
from tfm_ui.lenses.profiling.roofline import panels as roofline
from tfm_ui.lenses.profiling.state import PREFIX, ProfilingState
from tfm_ui.page import controls, frame
from tfm_ui.state.model_state import ModelState

VIEWS: dict[str, Callable[[ModelState], None]] = {
    "compare": compare.draw,
    "length": length.draw,
    "parts": parts.draw,
    "roofline": roofline.draw,
}


@frame.lens("profiling")
def lens(model: ModelState) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model)
    with pills:
        frame.presets(PROFILING, ProfilingState, PREFIX)


model = frame.model()
controls.open_link(ProfilingState, PREFIX, ProfilingState.limits(model))
shown = frame.run(model)
frame.title("Profiling", shown, beside="Sidebar’s model")
if not frame.asks_for_text(model):
    lens(model)
