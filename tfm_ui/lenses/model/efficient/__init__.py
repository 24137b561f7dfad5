"""The view "efficient": other attentions on the same weights, the fused kernel's tiles, and what each costs."""

from tfm_core import ATTENTION
from tfm_ui.lenses.model.efficient.compared import Efficient, EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import KNOB, EfficientRunning, EfficientTiles
from tfm_ui.lenses.model.other_attention import never_trained_with, while_heavy
from tfm_ui.lenses.model.state import PREFIX, ModelLensState, possible, why_not_all
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def _about(model: ModelState, state: ModelLensState) -> Note:
    """What each attention is, and why one of them is not possible here."""
    said = "  \n".join(ATTENTION[name].about for name in possible(model))
    return Note(f"{said}  \n{why_not_all(model)}".rstrip())


def _controls(model: ModelState) -> ModelLensState:
    """Which stack, layer and head, and how large a tile."""
    line = controls_line.row("line_model_efficient")
    return controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "head", "tile")


VIEW = View(
    title="Efficient",
    shows=[Efficient, _about, EfficientGrowth, EfficientTiles, EfficientRunning],
    beside=KNOB,
    controls=_controls,
    running=while_heavy("Running the model with each attention"),
    never_trained=never_trained_with("attention", possible),
)
