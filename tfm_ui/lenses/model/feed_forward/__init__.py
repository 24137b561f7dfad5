"""The view "feed_forward": activations, the hidden units that they make, a single unit, and sizes."""

from tfm_core import ACTIVATIONS
from tfm_ui.lenses.model.feed_forward.activations import Activations, FfnSizes
from tfm_ui.lenses.model.feed_forward.hidden import READ, Hidden, OneUnit
from tfm_ui.lenses.model.feed_forward.questions import QUESTIONS
from tfm_ui.lenses.model.machine import config_of, texts_of_first
from tfm_ui.lenses.model.other_attention import never_trained_with, while_heavy
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text


def _controls(model: ModelState) -> ModelLensState:
    """Which network, which of its units, and which size is counted."""
    line = controls_line.row("line_model_feed_forward")
    controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "unit", "ffn_size")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention")


def _read(model: ModelState, state: ModelLensState) -> list[Text]:
    """What the model reads, as far as its units are looked at."""
    return texts_of_first(model, config_of(model, state), READ)


VIEW = View(
    title="Feed-forward",
    exercise="gelu",
    shows=[Activations, Hidden, OneUnit, FfnSizes],
    controls=_controls,
    running=while_heavy("Running the model with each activation"),
    never_trained=never_trained_with("activation", tuple(ACTIVATIONS)),
    reads=_read,
    questions=QUESTIONS,
)
