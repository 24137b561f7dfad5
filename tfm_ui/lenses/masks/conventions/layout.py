"""Where the controls of the view "conventions" stand: some of them among its panels."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.masks.controls import draw, mask_and
from tfm_ui.lenses.masks.conventions.uploading import uploader
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page import controls_line
from tfm_ui.page.box import Box
from tfm_ui.state.model_state import ModelState


def layout(model: ModelState) -> tuple[MasksState, Sequence[DeltaGenerator | Box]]:
    """The convention is chosen below the table of all, and a mask is pasted in the panel that shows it."""
    mask_and("layer")(model)
    aside, all_calls = st.container(), st.container()
    draw(model, controls_line.row("line_convention"), "convention", "head")
    one_call, foreign = st.container(), Box.of("masks_foreign", st.container())
    with foreign.inside:
        text, file = st.columns(2, gap="medium")
        draw(model, text.container(), "pasted")
        with file:
            uploader()
            state = draw(model, st.container(), "read_as")
    return state, [aside, all_calls, one_call, foreign]
