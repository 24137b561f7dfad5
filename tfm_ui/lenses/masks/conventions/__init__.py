"""The view "conventions": the same mask as other libraries' calls expect it, and masks that come from there."""

from html import escape

import streamlit as st

from tfm_core.clinic.table import Table
from tfm_ui.lenses.masks.above import PICTURES, batch_and_mask, draw, reads_instead, texts_of_sentence
from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours, code_block
from tfm_ui.lenses.masks.conventions.foreign import Foreign
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator


def _running(model: ModelState, state: MasksState) -> str:
    """What is said while the calls are made."""
    return "Making each call; the first time, transformers is loaded"


def _controls(model: ModelState) -> MasksState:
    """The convention, and behind a button the mask that is pasted or uploaded."""
    line = controls_line.row("line_convention")
    draw(model, line, "convention", "item")
    _bring(model, controls_line.more(line, "Your own mask"))
    return batch_and_mask(model, line, "layer", "head")


def _bring(model: ModelState, where: DeltaGenerator) -> None:
    """What takes a mask, and above it what it is taken for: the panel that draws it is far below on the page."""
    with where.container(key="masks_verdict"):
        verdict = st.container()
    draw(model, where, "pasted")
    with where:
        uploads.uploader()
    mask = Foreign(model, draw(model, where, "read_as"))
    if isinstance(mask.brought, Table) and mask.is_there and (stack := [n for n in mask.brought.stack if n > 1]):
        mask = Foreign(model, draw(model, where, *("pasted_layer", "pasted_head")[-len(stack) :]))
    with verdict:
        if not mask.is_there:
            mask.draw_why_there_is_none()
            return
        more = mask.about_use() if mask.in_use or mask.refused() else "It is drawn below, in “A mask from elsewhere”."
        st.html(f'<p class="note">{escape(mask.sentence())} {escape(more)}</p>')
        mask.draw_use_button("_masks_use_here")


VIEW = View(
    title="Other libraries",
    shows=[Columns([[Ours], [Handed]]), Conventions.note, code_block, Conventions, Foreign],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=texts_of_sentence,
    controls=_controls,
    running=_running,
)
