"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model.block import panels as block
from tfm_ui.lenses.model.block import pictures as block_pictures
from tfm_ui.lenses.model.diagram import panels as diagram
from tfm_ui.lenses.model.diagram import pictures as diagram_pictures
from tfm_ui.lenses.model.output import panels as output
from tfm_ui.lenses.model.output import pictures as output_pictures
from tfm_ui.lenses.model.questions import QUESTIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="model",
    title="Model",
    state=ModelLensState,
    views={
        "diagram": diagram.VIEW,
        "block": block.VIEW,
        "output": output.VIEW,
    },
    questions=QUESTIONS,
    pictures=diagram_pictures.PICTURES | block_pictures.PICTURES | output_pictures.PICTURES,
)
