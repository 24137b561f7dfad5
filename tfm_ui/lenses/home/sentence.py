"""The sentence that Home begins with: the model's text, edited in place, while all pictures follow.

It is a component of ours, as Streamlit's own box says nothing while somebody types; its value is that of the text box
in the sidebar. What is typed in a row is one act.
"""

from dataclasses import replace

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.pictures.canvas import ASSETS, LOADER, version
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import named

FIELD, KEY = "text", "sentence"
FROM_FILE = "These weights come out of a file, with the tokens that they belong to, so no other text can be read."
OF_A_TASK = "These weights know the tokens of their task alone: type them in the sidebar, or choose an example there."

_sentence = st.components.v2.component(
    KEY,
    html='<label class="sentence"><textarea rows="1" aria-label="Text" autocomplete="off" '
    'spellcheck="false" enterkeyhint="done" placeholder="Type a sentence"></textarea></label>',
    css=(ASSETS / "lenses/home/sentence.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "lenses/home/sentence"),
)


def is_locked(model: ModelState) -> bool:
    """Whether no text can be typed here, as the weights read something else: `reads_instead` says why."""
    return bool(model.array or model.trained)


def draw(model: ModelState) -> None:
    """Draw the box; where it is locked, it holds what is really read."""

    def changed() -> None:
        controls.carry_out(st.session_state[KEY].changed)

    data = {
        "text": model.read_text if is_locked(model) else model.text,
        "isLocked": is_locked(model),
        "needsText": bool(replace(model, text="").empty_texts),
        "heard": controls.heard(),
    }
    _sentence(key=KEY, data=data, on_changed_change=changed)


def reads_instead(model: ModelState, state: LensState) -> str:
    """What is read in place of a text that one types, and why; "" if the text is read, and no other."""
    sentences = [model.notes[FIELD], FROM_FILE if model.array else OF_A_TASK] if is_locked(model) else []
    if model.is_encoder_decoder:
        last = named(model.target_tokens.pieces[-1]) if model.target_tokens.pieces else ""
        sentences.append(
            "The encoder reads this text; the bars go on from the target text in the sidebar, whose last token is "
            f"“{last}”."
        )
    return " ".join(filter(None, sentences))
