"""The view "diagram": the whole machine, one of its blocks, and the way of one token through it."""

from collections.abc import Sequence

from tfm_ui.lenses.model.diagram.block import CountedBlock, Flow
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.passed import Passed, run_of, runs
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.diagram.questions import QUESTIONS
from tfm_ui.lenses.model.other_attention import other_attention, while_heavy
from tfm_ui.lenses.model.shapes import OWN, THIS
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note, Panel
from tfm_ui.state.model_state import ModelState

OF_OWN = ("own_d_model", "own_heads", "own_layers", "own_d_ff", "own_words", "own_tokens", "own_output")


def _counted_only(model: ModelState, state: ModelLensState) -> Sequence[Panel | Note]:
    """What is shown of a shape that has no tensors."""
    if state.shape == THIS:
        return []
    return [Diagram(model, state), *run_of(model, state), CountedBlock(model, state)]


def _reads_instead(model: ModelState, state: ModelLensState) -> str:
    if state.shape == THIS:
        return ""
    if runs(model, state):
        return "No text is read here: parameters and operations are counted, and random token ids are run once."
    return "No text is read here: of this shape nothing is run, its parameters and operations are counted."


def _controls(model: ModelState) -> ModelLensState:
    """The shape, the attention, the layer and the token; the reader's numbers behind "More"."""
    line = controls_line.row("line_model_diagram")
    state = controls_line.draw(ModelLensState, PREFIX, model, line, "shape")
    if state.shape != THIS:
        state = controls_line.draw(ModelLensState, PREFIX, model, line, "run")
        numbers = [*OF_OWN, *["own_target"] * model.is_encoder_decoder] if state.shape == OWN else []
        batch = ["batch", "batch_tokens"] if state.run else []
        return controls_line.draw_more(ModelLensState, PREFIX, model, line, *numbers, *batch)
    if model.is_encoder_decoder:  # beside the choice of a stack the attention has no room
        controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "token")
        return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention", "all_layers")
    controls_line.draw(ModelLensState, PREFIX, model, line, "attention", "layer", "token")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "all_layers")


VIEW = View(
    title="Machine",
    exercise="count-parameters",
    shows=[Diagram, Flow, Path],
    also=[Passed],
    instead=_counted_only,
    reads_instead=_reads_instead,
    controls=_controls,
    running=while_heavy("Running the model"),
    never_trained=other_attention,
    questions=QUESTIONS,
)
