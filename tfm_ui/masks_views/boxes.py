"""The Masks lens's own controls above a view."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui import controls_line
from tfm_ui.masks_lens.state import PREFIX, MasksState
from tfm_ui.model_state import ModelState
from tfm_ui.pictures import States


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.boxes(MasksState, PREFIX, MasksState.limits(model), where, *names)


def mask(model: ModelState, *more: str) -> MasksState:
    """What stands above all views: the batch, the sentence, the masks; and `more` controls of the view's own."""
    boxes(model, st.container(key="masks_texts_place"), "texts")
    places = ["place"] if model.is_encoder_decoder else []
    return boxes(model, controls_line.row("masks"), "item", *places, *more)


def states(model: ModelState, state: MasksState) -> States:
    """What the lens's pictures depend on."""
    return ((model, ""), (state, PREFIX))
