"""The Profiling lens's own controls above a view."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core.profiling import Plan
from tfm_ui.lenses.profiling import asked
from tfm_ui.lenses.profiling.state import DEVICES, PREFIX, ProfilingState, rows_of
from tfm_ui.page import controls_line
from tfm_ui.pictures.registry import States
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look
from tfm_ui.text.plain import plain


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> ProfilingState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.boxes(ProfilingState, PREFIX, ProfilingState.limits(model), where, *names)


def how(model: ModelState, where: DeltaGenerator, *first: str) -> ProfilingState:
    """How it is measured, folded."""
    menu = where.popover("How it is measured", icon=":material/tune:", type="tertiary", key="_profiling_how")
    device = ["device"] if len(DEVICES) > 1 else []
    container = menu.container()
    boxes(model, container, *first, "rounds", "backward", "dtype", *device, "threads")
    return boxes(model, container, "embedding", "vocabulary")


def kind(plan: Plan) -> None:
    """Say what the rows have of the sidebar's model, and which differ from it."""
    st.container(key="profiling_kind").html(f'<p class="note">{escape(asked.kind(plan))}</p>')


def rows(model: ModelState, where: DeltaGenerator) -> ProfilingState:
    """The rows of the view "compare", folded: what is not drawn is not in the link."""
    menu = where.popover("Configurations", icon=":material/list:", type="tertiary", key="_profiling_rows").container()
    state = boxes(model, menu, "sizes", "batch")
    for problem in rows_of(model, state)[1]:
        menu.caption(plain(problem))
    menu.caption(f"Each with {plain(look.listed(names(state.targets)))}, as chosen in the view “compare”.")
    return how(model, where)


def states(model: ModelState, state: ProfilingState) -> States:
    """What the lens's pictures depend on."""
    return ((model, ""), (state, PREFIX))
