"""The Masks lens's own controls above a view."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.masks.state import PREFIX, MasksState, about_batch
from tfm_ui.page import controls_line
from tfm_ui.pictures.registry import Drawing, States
from tfm_ui.state.model_state import ModelState


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.boxes(MasksState, PREFIX, MasksState.limits(model), where, *names)


def mask(model: ModelState, *more: str) -> MasksState:
    """What stands above all views: the batch, the sentence, the masks; and `more` controls of the view's own."""
    with st.container(key="masks_batch"):
        text, rows = st.columns([4, 9], gap="medium")
    boxes(model, text.container(key="masks_texts_place"), "texts")
    places = ["place"] if model.is_encoder_decoder else []
    with rows:
        batch = st.container(key="masks_batch_rows")
        state = boxes(model, controls_line.row("masks"), "item", *places, *more)
    with batch:
        Drawing("masks_batch", states(model, state)).draw("masks_batch_picture")
    with st.container(key="masks_batch_notes"):  # it is there also when it is empty
        if notes := about_batch(model, state):
            st.html(f'<p class="note">{escape(notes)}</p>')
    Drawing("masks_composer", states(model, state)).draw("masks_composer")
    return state


def states(model: ModelState, state: MasksState) -> States:
    """What the lens's pictures depend on."""
    return ((model, ""), (state, PREFIX))
