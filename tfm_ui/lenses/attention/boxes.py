"""The Attention lens's own controls above a view."""

from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page import controls_line
from tfm_ui.state.model_state import ModelState

PREFIX = "attention_"


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> AttentionState:
    """Draw these controls, and return what all of the lens's controls hold; `kind` is there for two stacks alone."""
    drawn = [name for name in names if name != "kind" or model.is_encoder_decoder]
    return controls_line.boxes(AttentionState, PREFIX, AttentionState.limits(model), where, *drawn)
