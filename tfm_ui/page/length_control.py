"""The slider of how many tokens are read. It follows the text until it is moved; a press makes it follow again."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import encode
from tfm_ui.page import controls, sliders
from tfm_ui.state.fields import Length, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import EXACT_UP_TO

KEY = "seq_len"
FOLLOW = "_follow_text"


def draw(where: DeltaGenerator) -> None:
    """Draw the slider, and in the row of its label whether it follows the text. All texts must have been drawn before.

    It always stands somewhere, but the address names the number of tokens only if somebody has chosen it.
    """
    model = controls.current(ModelState)
    field, _ = controls_of(ModelState)[KEY]
    assert isinstance(field, Length)
    field = replace(field, high=model.most_tokens)
    pieces = len(encode(model.read_text, model.tokens_by).pieces)
    with where.container(key="with_follow"):
        # The length of the text stays a stop, so that the slider is the same one when it has been moved away from it.
        sliders.draw_between(field, KEY, model.length, field.options(pieces, model.length), st.container())
        if model.seq_len:
            about = "This many are read of any text. Press to read as many as the text has."
            st.button("Fixed: follow the text", key=FOLLOW, type="tertiary", help=about, on_click=_follow)
        else:
            most = f", up to {EXACT_UP_TO}" if pieces > EXACT_UP_TO else ""
            st.html(f'<p class="follows">follows the text{most}</p>')


def _follow() -> None:
    controls.set_parameters({KEY: 0})
