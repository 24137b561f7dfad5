"""The view "efficient": other attentions on the same weights, the fused kernel's tiles, and what each costs."""

from tfm_core import ATTENTION
from tfm_ui.lenses.model.efficient.compared import Efficient, EfficientGrowth
from tfm_ui.lenses.model.efficient.questions import QUESTIONS
from tfm_ui.lenses.model.efficient.tiling import KNOB, EfficientRunning, EfficientTiles
from tfm_ui.lenses.model.other_attention import never_trained_with, while_heavy
from tfm_ui.lenses.model.state import ModelLensState, possible, why_not_all
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def _about(model: ModelState, state: ModelLensState) -> Note:
    """What each attention is, and why one of them is not possible here."""
    abouts = [ATTENTION[name].about for name in possible(model)]
    return Note("  \n".join([*abouts, why_not_all(model)]).rstrip())


VIEW = View(
    title="Efficient",
    exercise="linear-attention",
    shows=[Efficient, _about, EfficientGrowth, EfficientTiles, EfficientRunning],
    beside=KNOB,
    controls=("stack", "layer", "head", "tile"),
    line="line_model_efficient",
    running=while_heavy("Running the model with each attention"),
    never_trained=never_trained_with("attention", possible),
    questions=QUESTIONS,
)
