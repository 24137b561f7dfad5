"""The view "conventions": the same mask as other libraries' calls expect it."""

import streamlit as st

from tfm_ui.lenses.masks.above import PICTURES, batch_and_mask, draw, reads_instead, texts_of_sentence
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours, code_block
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page import controls_line, frame
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState


def _running(model: ModelState, state: MasksState) -> str:
    """What is said while the calls are made."""
    return "Making each call; the first time, transformers is loaded"


def _controls(model: ModelState) -> MasksState:
    """The convention, and the way to the Clinic with a mask of one's own."""
    line = controls_line.row("line_convention")
    draw(model, line, "convention", "item")
    with line:
        st.page_link(frame.page_of("clinic"), label="Your own mask", icon=":material/arrow_forward:")
    return batch_and_mask(model, line, "layer", "head")


VIEW = View(
    title="Other libraries",
    exercise="attention",
    shows=[Columns([[Ours], [Handed]]), Conventions.note, code_block, Conventions],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=texts_of_sentence,
    controls=_controls,
    running=_running,
)
