"""To be written."""

import streamlit as st

from tfm_ui.model_state import ModelState
from tfm_ui.positions_views.boxes import pair


def draw(model: ModelState) -> None:
    """To be written."""
    st.write(repr(pair(model)))
