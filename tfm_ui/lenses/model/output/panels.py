"""The view "output"."""

from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """Not built yet."""
    return [Note("Not built yet.")]


VIEW = View(title="Output", blocks=blocks, controls=())
