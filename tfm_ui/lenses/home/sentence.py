"""The sentence that Home begins with: the model's text, edited in place, while all pictures follow.

It is a component of ours, as Streamlit's own box says nothing while somebody types; its value is that of the text box
in the sidebar. What is typed in a row is one act.
"""

from dataclasses import replace

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.page import controls
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

FIELD, KEY = "text", "sentence"
FROM_FILE = "These weights come out of a file, with the tokens that they belong to, so no other text can be read."
OF_A_TASK = "Type some of these in the sidebar, or choose an example there."

_sentence = st.components.v2.component(
    KEY,
    html='<label class="sentence"><textarea rows="1" aria-label="Text" autocomplete="off" '
    'spellcheck="false" enterkeyhint="done" placeholder="Type a sentence"></textarea></label>',
    css=(ASSETS / "lenses/home/sentence.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "lenses/home/sentence"),
)


def is_locked(model: ModelState) -> bool:
    """Whether no sentence can be typed here, as the weights read something else: `reads_instead` says what and why."""
    return bool(model.array) or not model.reads(model.text)


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
    """What is read in place of the text, and why; "" if the text is read."""
    if not is_locked(model):
        return ""
    return " ".join(filter(None, [model.notes[FIELD], FROM_FILE if model.array else OF_A_TASK]))
