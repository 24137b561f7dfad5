"""The view "feed_forward": activations, the hidden units that they make, a single unit, and sizes."""

from dataclasses import replace

from tfm_core import ACTIVATIONS
from tfm_ui.lenses.model.feed_forward.activations import Activations, FfnSizes
from tfm_ui.lenses.model.feed_forward.hidden import Hidden, OneUnit
from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.state.model_state import ModelState


def _controls(model: ModelState) -> ModelLensState:
    """Which network, which of its units, and which size is counted."""
    line = controls_line.row("line_model_feed_forward")
    controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "unit", "ffn_size")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention")


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    return "Running the model with each activation" if model.is_heavy else ""


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """A sentence that names those of these models for which trained weights were never trained."""
    config = config_of(model, state)
    return never_trained(model, [*(replace(config, activation=name) for name in ACTIVATIONS)])


VIEW = View(
    title="Feed-forward",
    shows=[Activations, Hidden, OneUnit, FfnSizes],
    controls=_controls,
    running=_running,
    never_trained=_never_trained,
)
