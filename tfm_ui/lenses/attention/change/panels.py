"""Reach into the model, and see what becomes of it."""

from functools import partial

from tfm_core import Transformer, TransformerLayer
from tfm_ui.lenses.attention.change import buttons
from tfm_ui.lenses.attention.change.aligned import by_token, distances
from tfm_ui.lenses.attention.change.changes import edits, positions
from tfm_ui.lenses.attention.change.pictures import PICTURES
from tfm_ui.lenses.attention.change.rerun import rerun
from tfm_ui.lenses.attention.change.results import ChangedOutput, ChangedStream, ChangedWeights, changed
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: AttentionState) -> list[Block]:
    """One head of both sides, and below it what becomes of the rest of the model."""
    weights, stream, output = changed(model, state)
    return [_weights(weights), Columns([[_stream(stream)], [_output(output)]])]


def draw_controls(model: ModelState) -> AttentionState:
    """Which head is looked at, and a button for each change that can be made there."""
    line = controls_line.row("line_change")
    state = controls_line.draw(AttentionState, PREFIX, model, line, "kind", "layer", "head")
    weights, _, _ = changed(model, state)
    buttons.draw_acts(weights.setting, line, cell_is_there=weights.locked is not None)
    more = controls_line.more(line)
    buttons.draw_replacing(weights.setting, more)
    return controls_line.draw(AttentionState, PREFIX, model, more, "rescale")


def _weights(weights: ChangedWeights) -> Panel:
    model, changes = weights.setting.model, weights.setting.changes[1]
    made = edits(changes, model, positions(changes, model))
    return Box(
        key="change_weights",
        title=f"Layer {weights.setting.layer}, head {weights.setting.head}",
        how_to_read="Two runs of the model, and what differs; tokens stand as in the text, wherever B reads them. "
        "Click a cell to lock it, then drag its weight.",
        shape=f"query × key = {len(weights.queries)} × {len(weights.keys)}",
        locked=True,
        picture="change_weights",
        tools=partial(buttons.draw_done, weights.setting),
        result=weights,
        sources=[*dict.fromkeys(call.func for calls in made.values() for call in calls), edits, rerun, by_token],
    )


def _stream(stream: ChangedStream) -> Panel:
    return Box(
        key="change_stream",
        title="The residual stream",
        how_to_read="How far each token’s vector moved, as a share of its length in A: to the right, on its way "
        "through the model.",
        picture="change_stream",
        result=stream,
        sources=[rerun, distances, TransformerLayer.forward],
    )


def _output(output: ChangedOutput) -> Panel:
    looks_back_only = output.setting.model.looks_back_only
    return Box(
        key="change_output",
        title="What it would say next" if looks_back_only else "What it makes of the last token",
        how_to_read=output.how_to_read,
        picture="change_output",
        result=output,
        sources=[rerun, Transformer.forward],
    )


VIEW = View(
    title="Change it",
    blocks=blocks,
    drawn=PICTURES,
    controls=draw_controls,
)
