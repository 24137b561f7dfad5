"""What all views have: the row of controls, the masks that are composed in it, and the batch below the main picture."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from tfm_core import MASKS
from tfm_ui.lenses.masks.composition import MOST_TERMS
from tfm_ui.lenses.masks.state import PREFIX, MasksState, about_batch, item_of, sentences, setting
from tfm_ui.lenses.masks.terms import Terms, anyway
from tfm_ui.live import passes
from tfm_ui.live.never_trained import under_mask
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import texts_of
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats, token_labels
from tfm_ui.text.token_row import Text

COMPOSER = Canvas(
    "lenses/masks/composer",
    """
<div class="composer" data-picture>
  <div class="chips" role="group"></div>
  <p class="about"><span></span> <button hidden>Let all look ahead</button></p>
  <p class="told" hidden></p>
</div>
""",
)


def masks_composer(model: ModelState, state: MasksState) -> Content:
    """What composer.js draws: the masks that are combined, as they can be changed, which writes the text of the link.

    What hides pairs whatever is composed is "locked", with the parameters that take it away as "lift", if any do.
    """
    now = setting(model, state)
    terms, because = Terms(now), anyway(now)
    lift = {"causal": "false"} if now.model.masks_the_future else None
    most = max(now.composed.shape)  # rows or columns of the mask, the end of sliders
    known = [
        {
            "name": name,
            "about": pattern.about,
            "source": pattern.source,
            "arguments": [
                {
                    "name": argument.name,
                    "low": argument.low + argument.of_tokens,
                    "high": max(most, argument.low + argument.of_tokens + 1),
                    "several": argument.several,
                }
                for argument in pattern.arguments
            ],
        }
        for name, pattern in MASKS.items()
    ]
    header = {
        "parameter": PREFIX + "mask",
        "terms": [{"how": term.how, "name": term.name, "numbers": term.numbers} for term in terms.terms],
        "known": known,
        "room": MOST_TERMS - len(terms.terms),
        "locked": {"text": f"causal, {because}", "lift": lift} if because else None,
        "idle": sorted(terms.idle),
        "notes": terms.notes(),
        "offer": bool(lift and terms.ahead),
        "title": terms.title,
    }
    return header, np.zeros(0, np.float32)


def mask_and(*names: str, more: Sequence[str] = ()) -> Callable[[ModelState], MasksState]:
    """Draws the sentence, controls of these names and the masks, for `View.controls`.

    Args:
        names: fields whose controls stand in the row.
        more: fields whose controls stand behind "More", beside the batch.
    """
    return partial(_row, names, more)


def _row(names: Sequence[str], more: Sequence[str], model: ModelState) -> MasksState:
    line = controls_line.row("line_masks")
    draw(model, line, "item", *names)
    return batch_and_mask(model, line, *more)


def batch_and_mask(model: ModelState, line: DeltaGenerator, *names: str) -> MasksState:
    """Draw the batch, and controls of these names, behind "More", and the masks below; return the lens's state."""
    state = draw(model, controls_line.more(line), "place", "texts", *names)
    with st.container(key="masks_composer_place"):
        Drawing("masks_composer", ((model, ""), (state, PREFIX))).draw("masks_composer")
    return state


def draw(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw controls of these names, and return what all of the lens's controls hold."""
    return controls_line.draw(MasksState, PREFIX, model, where, *names)


# the batch

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


def texts_of_sentence(model: ModelState, state: MasksState) -> Sequence[Text]:
    """The sentence that is on screen, filled up to the length of the batch; and the target text, if there is one."""
    return texts_of(setting(model, state).model, state)


PICTURES = {  # for `View.beside`
    "masks_batch": Picture(BATCH, masks_batch, ignores=WEIGHTS, needs=passes.needs),
    "masks_composer": Picture(COMPOSER, masks_composer, ignores=WEIGHTS, needs=passes.needs),
}


def other_mask(model: ModelState, state: MasksState) -> str:
    """A sentence that trained weights were trained under another mask; "" if they were not."""
    under = setting(model, state)
    return under_mask(under.model, under.mask, cross=under.place == "cross")
