"""What stands above all views of the Masks lens: the masks that are composed, and which sentence and head is shown."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.masks.state import PREFIX, MasksState, about_batch, item_of
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState


def mask_and(*names: str, more: Sequence[str] = ()) -> Callable[[ModelState], MasksState]:
    """Draws the sentence, controls of these names and the masks, for `View.controls`.

    Args:
        names: fields whose controls stand in the row.
        more: fields whose controls stand behind "More", beside the batch.
    """
    return partial(row, names, more)


def row(names: Sequence[str], more: Sequence[str], model: ModelState) -> MasksState:
    """Draw the row; return the lens's state."""
    line = controls_line.row("line_masks")
    draw(model, line, "item", *names)
    state = draw(model, controls_line.more(line), "place", "texts", *more)
    with st.container(key="masks_composer_place"):
        Drawing("masks_composer", ((model, ""), (state, PREFIX))).draw("masks_composer")
    return state


def draw(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw controls of these names, and return what all of the lens's controls hold."""
    return controls_line.draw(MasksState, PREFIX, model, where, *names)


def reads_instead(model: ModelState, state: MasksState) -> str:
    """Which sentence of the batch is on screen, where that is not the sidebar's."""
    item = item_of(model, state)
    if item == 1:
        return ""
    sentence = f"sentence {item} of the batch"
    read = f"The encoder reads {sentence}" if model.is_encoder_decoder else f"{sentence.capitalize()} is read"
    return f"{read} here; sentence 1 is the text in the sidebar."


def the_batch(model: ModelState, state: MasksState) -> list[Block | None]:
    """The sentences of the batch, below the main picture: a click chooses one; and what of them is not as asked for."""
    notes = about_batch(model, state)
    return [Note(notes, "plain") if notes else None, partial(_draw_batch, model, state)]


def _draw_batch(model: ModelState, state: MasksState) -> None:
    with st.container(border=True, key="masks_batch_rows"):
        st.html('<div class="phead"><h2>The batch</h2></div>')
        Drawing("masks_batch", ((model, ""), (state, PREFIX))).draw("masks_batch_picture")
