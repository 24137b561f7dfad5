"""What stands above all views of the Masks lens: the batch, the chosen sentence, the masks that are composed."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.masks.state import PREFIX, MasksState, about_batch
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.registry import States
from tfm_ui.state.model_state import ModelState


def mask_and(*names: str) -> Callable[[ModelState], MasksState]:
    """Draws the batch, the sentence and the masks, beside them controls of these names, for `View.controls`."""
    return partial(_draw, names)


def draw(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw controls of these names, and return what all of the lens's controls hold."""
    return controls_line.draw(MasksState, PREFIX, model, where, *names)


def _draw(names: tuple[str, ...], model: ModelState) -> MasksState:
    with st.container(key="masks_batch"):
        text, rows = st.columns([4, 9], gap="medium")
    draw(model, text.container(key="masks_texts_place"), "texts")
    with rows:
        batch = st.container(key="masks_batch_rows")
        state = draw(model, controls_line.row("line_masks"), "item", "place", *names)
    states: States = ((model, ""), (state, PREFIX))
    with batch:
        Drawing("masks_batch", states).draw("masks_batch_picture")
    with st.container(key="masks_batch_notes"):  # it is there also when it is empty
        if notes := about_batch(model, state):
            st.html(f'<p class="note">{escape(notes)}</p>')
    Drawing("masks_composer", states).draw("masks_composer")
    return state
