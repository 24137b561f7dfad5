"""The batch: its sentences as rows of tokens, padding hatched; one of them is chosen."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from tfm_ui.lenses.masks.state import PREFIX, MasksState, about_batch, item_of, sentences, setting
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState
from tfm_ui.text import formats, token_labels

BATCH = Canvas(
    "lenses/masks/batch", '<div class="batch" data-picture role="group" aria-label="Sentences of the batch"></div>'
)
SHOWN, PADS = 24, 12  # tokens of a row, and PADs beside them


def masks_batch(model: ModelState, state: MasksState) -> Content:
    """What batch.js draws: the sentences, as they stand in the batch; a click sets the chosen one in the link."""
    rows = []
    for item in range(1, len(sentences(model, state)) + 1):
        tokens = setting(model, state, item).model.source_tokens
        count = len(tokens.pieces)
        pads = min(tokens.padding, PADS)
        rows.append(
            {
                "tokens": token_labels.labels(tokens)[: min(count, SHOWN)],
                "more": f"{formats.count(count - SHOWN)} more" if count > SHOWN else "",
                "pads": pads,
                "morePads": f"{formats.count(tokens.padding - pads)} more" if tokens.padding > pads else "",
                "name": f"Sentence {item}: {formats.plural(count, 'token')}, {tokens.padding} of padding",
            }
        )
    left = state.view == "padding" and state.pad_side == "left"  # padding stands before the tokens
    header = {"rows": rows, "chosen": item_of(model, state), "parameter": PREFIX + "item", "left": left}
    return header, np.zeros(0, np.float32)


PICTURE = {"masks_batch": Picture(BATCH, masks_batch, ignores=WEIGHTS)}


def _about(model: ModelState, state: MasksState) -> Note | None:
    """What of the sentences is not as asked for."""
    notes = about_batch(model, state)
    return Note(notes, "plain") if notes else None


def _rows(model: ModelState, state: MasksState) -> Callable[[], None]:
    """The sentences, in a box of their own."""
    return partial(_draw, model, state)


def _draw(model: ModelState, state: MasksState) -> None:
    with st.container(border=True, key="masks_batch_rows"):
        st.html('<div class="phead"><h2>The batch</h2></div>')
        Drawing("masks_batch", ((model, ""), (state, PREFIX))).draw("masks_batch_picture")


THE_BATCH = (_about, _rows)  # for `View.shows`, below the main picture


def reads_instead(model: ModelState, state: MasksState) -> str:
    """Which sentence of the batch is on screen, where that is not the sidebar's."""
    item = item_of(model, state)
    if item == 1:
        return ""
    sentence = f"sentence {item} of the batch"
    read = f"The encoder reads {sentence}" if model.is_encoder_decoder else f"{sentence.capitalize()} is read"
    return f"{read} here; sentence 1 is the text in the sidebar."
