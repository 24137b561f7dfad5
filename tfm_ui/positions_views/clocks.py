"""Pairs of dimensions as turning vectors: to be drawn."""

import streamlit as st

from tfm_ui.model_state import ModelState
from tfm_ui.positions_lens.schemes import Scheme
from tfm_ui.positions_lens.state import PositionsState


def draw(model: ModelState, state: PositionsState, scheme: Scheme) -> None:
    """To be drawn."""
    with st.container(border=True, key=f"clocks_{scheme.side}"):
        st.html(f'<div class="phead"><h3>{scheme.title}</h3></div>')
