"""The box of d_ff: it shows the real number, which is 4 d_model unless another one is chosen."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.page import controls
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState

KEY, BOX = "d_ff", "_d_ff"


def draw(where: DeltaGenerator) -> None:
    """Draw the box. The control of d_model must have been drawn before.

    The widget is not bound to the address, because it always shows a number, but the address names d_ff only if
    somebody has chosen it.
    """
    field, _ = controls_of(ModelState)[KEY]
    assert isinstance(field, Whole)
    hidden = controls.current(ModelState).hidden
    if st.session_state.get(BOX) != hidden:
        st.session_state[BOX] = hidden
    where.number_input(field.label, 1, field.high, help=field.help, key=BOX, on_change=_changed)


def _changed() -> None:
    chosen = st.session_state[BOX]
    is_usual = chosen == controls.current(ModelState).d_model * 4
    controls.set_parameters({KEY: 0 if is_usual else chosen})
