"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model import block, depth, diagram, distance, efficient, feed_forward, output
from tfm_ui.lenses.model.block import questions as block_questions
from tfm_ui.lenses.model.depth import questions as depth_questions
from tfm_ui.lenses.model.diagram import questions as diagram_questions
from tfm_ui.lenses.model.distance import questions as distance_questions
from tfm_ui.lenses.model.efficient import questions as efficient_questions
from tfm_ui.lenses.model.feed_forward import questions as feed_forward_questions
from tfm_ui.lenses.model.output import questions as output_questions
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import Lens

QUESTIONS = (  # in the order of the views; what they take for granted is checked in tests/tfm_ui/lenses/model
    *diagram_questions.QUESTIONS,
    *block_questions.QUESTIONS,
    *feed_forward_questions.QUESTIONS,
    *depth_questions.QUESTIONS,
    *distance_questions.QUESTIONS,
    *efficient_questions.QUESTIONS,
    *output_questions.QUESTIONS,
)

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
