"""What is said where trained weights run under another mask than they were trained under."""

from tfm_ui.lenses.masks.state import MasksState, setting
from tfm_ui.live.never_trained import under_mask
from tfm_ui.state.model_state import ModelState


def other_mask(model: ModelState, state: MasksState) -> str:
    """A sentence that trained weights were trained under another mask; "" if they were not."""
    under = setting(model, state)
    return under_mask(under.model, under.mask, cross=under.place == "cross")
