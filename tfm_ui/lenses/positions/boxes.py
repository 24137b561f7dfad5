"""The Positions lens's own controls above a view."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.sliders import knobs
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.page import controls_line
from tfm_ui.pictures.registry import Drawing, States
from tfm_ui.state.model_state import ModelState


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> PositionsState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.boxes(PositionsState, PREFIX, PositionsState.limits(model), where, *names)


def pair(model: ModelState, *more: str) -> PositionsState:
    """The controls of a view that sets A beside B: both, what they are made from, `more`, and the sliders."""
    line = controls_line.row("positions")
    state = boxes(model, line, "a", "b")
    depends = {name for scheme in schemes(model, state) for name in scheme.module.about.depends_on}
    drawn = [name for name, argument in (("width", "d_model"), ("heads", "num_heads")) if argument in depends]
    places = {place for scheme in schemes(model, state) for place in scheme.module.enters()}
    speaks = {  # what says nothing is not drawn
        "head": "bias_at" in places,
        "bias_scale": "bias_at" in places,
        "measure": bool(places - {"bias_at"}),
    }
    state = boxes(model, line, *drawn, *(name for name in more if speaks.get(name, True)))
    with st.container(key="positions_knobs_place"):
        if knobs(model, state):
            Drawing("positions_knobs", states(model, state)).draw("positions_knobs")
    asides = [scheme.aside for scheme in schemes(model, state) if scheme.aside]
    with st.container(key="positions_asides"):
        for aside in asides:
            st.info(aside)
    return state


def states(model: ModelState, state: PositionsState) -> States:
    """What the lens's pictures depend on."""
    return ((model, ""), (state, PREFIX))
