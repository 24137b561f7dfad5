"""The line of controls that stands above a view."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui import controls
from tfm_ui.attention_lens.state import AttentionState
from tfm_ui.model_state import ModelState

PREFIX = "attention_"


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> AttentionState:
    """Draw these controls, and return what all of the lens's controls hold."""
    limits = AttentionState.limits(model)
    for name in names:
        if name != "kind" or model.is_encoder_decoder:
            controls.draw(AttentionState, name, where, prefix=PREFIX, limits=limits)
    return controls.current(AttentionState, PREFIX, limits)


def row(key: str) -> DeltaGenerator:
    """A line of controls above a picture."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"line_{key}")
