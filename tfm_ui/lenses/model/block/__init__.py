"""The view "block": a block of the machine at full size, number by number; a sub-layer also with its norm elsewhere."""

from tfm_core import NORMS
from tfm_ui.lenses.model.block.both import BlockBoth, BlockLengths
from tfm_ui.lenses.model.block.cell import BlockCell
from tfm_ui.lenses.model.block.questions import QUESTIONS
from tfm_ui.lenses.model.block.steps import Block, BlockMoments
from tfm_ui.lenses.model.diagram.block import Flow
from tfm_ui.lenses.model.other_attention import never_trained_with, other_attention, while_heavy
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import panel
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState

ELSEWHERE = Note(
    "Cross-attention is in the decoder of an encoder-decoder alone. This stack has none, so its self-attention is "
    "shown."
)


def _opened(model: ModelState, state: ModelLensState) -> list[panel.Block | None]:
    """What there is to see of the block."""
    if state.sub_layer in OUTSIDE_LAYERS:
        end = Flow(model, state)
        if end.picked.name_in_link == OUTSIDE_LAYERS[state.sub_layer]:
            return [end]
    elsewhere = _elsewhere(model, state)
    sides = Columns([[BlockMoments(model, state)], [BlockLengths(model, state)]])
    return [Block(model, state), elsewhere, BlockCell(model, state), BlockBoth(model, state), sides]


def _elsewhere(model: ModelState, state: ModelLensState) -> Note | None:
    """Where the chosen block is, if this stack does not have it."""
    if state.sub_layer in OUTSIDE_LAYERS:
        return Note(f"This stack has no block of its own for “{state.sub_layer}”, so its self-attention is shown.")
    return ELSEWHERE if Block(model, state).sub_layer != state.sub_layer.replace("-", "_") else None


def _controls(model: ModelState) -> ModelLensState:
    """The way back, which block, which of its steps, and dropout. The token has no room: a click chooses it, too."""
    line = controls_line.row("line_model_block")
    controls_line.back(line, PREFIX, "diagram", "Back to the machine")
    state = controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "sub_layer")
    place = controls_line.place(line, "steps", idle=state.sub_layer in OUTSIDE_LAYERS)
    dropout = ["dropout"]
    controls_line.draw(ModelLensState, PREFIX, model, place, "layer", "step", *dropout * (not model.is_encoder_decoder))
    more = [*dropout * model.is_encoder_decoder, "attention", "token"]  # beside the choice of a stack it has no room
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, *more)


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """What trained weights were never trained in: a sub-layer is shown under both norms."""
    return (other_attention if state.sub_layer in OUTSIDE_LAYERS else never_trained_with("norm", NORMS))(model, state)


VIEW = View(
    title="Block",
    within="diagram",
    exercise="residual",
    shows=[_opened],
    also=[Block, BlockCell, BlockBoth, BlockMoments, BlockLengths, Flow],
    controls=_controls,
    running=while_heavy("Running the model under both norms"),
    never_trained=_never_trained,
    questions=QUESTIONS,
)
