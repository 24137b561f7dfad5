"""What is said where trained weights run with another attention than they were trained with."""

from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.state.model_state import ModelState


def other_attention(model: ModelState, state: ModelLensState) -> str:
    """A sentence that trained weights were never trained with the lens's attention; "" if they were."""
    return never_trained(model, [config_of(model, state)])
