"""The view "leaks"."""

from tfm_ui.masks_views.boxes import mask
from tfm_ui.model_state import ModelState


def draw(model: ModelState) -> None:
    """To come."""
    mask(model)
