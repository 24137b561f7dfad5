"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model.block import panels as block
from tfm_ui.lenses.model.block import pictures as block_pictures
from tfm_ui.lenses.model.depth import panels as depth
from tfm_ui.lenses.model.depth import pictures as depth_pictures
from tfm_ui.lenses.model.diagram import panels as diagram
from tfm_ui.lenses.model.diagram import pictures as diagram_pictures
from tfm_ui.lenses.model.distance import panels as distance
from tfm_ui.lenses.model.distance import pictures as distance_pictures
from tfm_ui.lenses.model.efficient import panels as efficient
from tfm_ui.lenses.model.efficient import pictures as efficient_pictures
from tfm_ui.lenses.model.feed_forward import panels as feed_forward
from tfm_ui.lenses.model.feed_forward import pictures as feed_forward_pictures
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
        "feed_forward": feed_forward.VIEW,
        "depth": depth.VIEW,
        "distance": distance.VIEW,
        "efficient": efficient.VIEW,
        "output": output.VIEW,
    },
    questions=QUESTIONS,
    pictures=diagram_pictures.PICTURES
    | block_pictures.PICTURES
    | feed_forward_pictures.PICTURES
    | depth_pictures.PICTURES
    | distance_pictures.PICTURES
    | efficient_pictures.PICTURES
    | output_pictures.PICTURES,
)
