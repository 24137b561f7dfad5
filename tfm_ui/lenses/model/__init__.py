"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model import block, depth, diagram, distance, efficient, feed_forward, output
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
)
