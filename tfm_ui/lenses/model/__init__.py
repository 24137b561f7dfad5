"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model.block import panels as block
from tfm_ui.lenses.model.block import pictures as block_pictures
from tfm_ui.lenses.model.questions import QUESTIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="model",
    title="Model",
    state=ModelLensState,
    views={
        "block": block.VIEW,
    },
    questions=QUESTIONS,
    pictures=block_pictures.PICTURES,
)
