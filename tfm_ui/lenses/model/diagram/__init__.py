"""The view "diagram": the whole machine, one of its blocks, and the way of one token through it."""

from collections.abc import Sequence

from tfm_ui.lenses.model.diagram.block import CountedBlock, Flow
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.diagram.questions import QUESTIONS
from tfm_ui.lenses.model.other_attention import other_attention, while_heavy
from tfm_ui.lenses.model.shapes import OWN, THIS
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.model_state import ModelState


def _counted_only(model: ModelState, state: ModelLensState) -> Sequence[Panel]:
    """What is shown of a shape that has no tensors."""
    return [] if state.shape == THIS else [Diagram(model, state), CountedBlock(model, state)]


def _reads_instead(model: ModelState, state: ModelLensState) -> str:
    counted = "No text is read here: of this shape nothing is run, its parameters and operations are counted."
    return "" if state.shape == THIS else counted


def _controls(model: ModelState) -> ModelLensState:
    """The shape, the attention, the layer and the token; the reader's numbers behind "More"."""
    line = controls_line.row("line_model_diagram")
    state = controls_line.draw(ModelLensState, PREFIX, model, line, "shape")
    if state.shape == OWN:
        numbers = ("own_d_model", "own_heads", "own_layers", "own_d_ff", "own_words", "own_tokens")
        return controls_line.draw_more(ModelLensState, PREFIX, model, line, *numbers)
    if state.shape != THIS:
        return state
    if model.is_encoder_decoder:  # beside the choice of a stack the attention has no room
        controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "token")
        return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention", "all_layers")
    controls_line.draw(ModelLensState, PREFIX, model, line, "attention", "layer", "token")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "all_layers")


VIEW = View(
    title="Machine",
    exercise="count-parameters",
    shows=[Diagram, Flow, Path],
    instead=_counted_only,
    reads_instead=_reads_instead,
    controls=_controls,
    running=while_heavy("Running the model"),
    never_trained=other_attention,
    questions=QUESTIONS,
)
