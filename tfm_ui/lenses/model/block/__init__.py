"""The view "block": one block number by number, and with its norm at the other place."""

from tfm_core import NORMS
from tfm_ui.lenses.model.block.cell import BlockCell
from tfm_ui.lenses.model.block.steps import Block, BlockBoth, BlockLengths, BlockMoments
from tfm_ui.lenses.model.other_attention import never_trained_with, while_heavy
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState

ELSEWHERE = Note(
    "Cross-attention is in the decoder of an encoder-decoder alone. This stack has none, so its self-attention is "
    "shown."
)


def _elsewhere(model: ModelState, state: ModelLensState) -> Note | None:
    """Where the chosen sub-layer is, if this stack does not have it."""
    return ELSEWHERE if Block(model, state).sub_layer != state.sub_layer.replace("-", "_") else None


def _controls(model: ModelState) -> ModelLensState:
    """Which block, which of its steps, and dropout. The token has no room: a click chooses it, too."""
    line = controls_line.row("line_model_block")
    controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "sub_layer", "step", "dropout")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention", "token")


VIEW = View(
    title="Block",
    shows=[Block, _elsewhere, BlockCell, BlockBoth, Columns([[BlockMoments], [BlockLengths]])],
    controls=_controls,
    running=while_heavy("Running the model under both norms"),
    never_trained=never_trained_with("norm", NORMS),
)
