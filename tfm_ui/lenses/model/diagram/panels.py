"""The view "diagram": the whole machine, one of its blocks, and the way of one token through it."""

import inspect
from functools import partial

import streamlit as st
from torch import nn

from tfm_core import (
    ATTENTION,
    MultiHeadAttention,
    SequenceClassifier,
    Transformer,
    TransformerConfig,
    TransformerLayer,
    attention_scores,
    attention_weights,
    block_costs,
    block_parameters,
    stack_blocks,
)
from tfm_core.model.feed_forward import FeedForward
from tfm_core.model.linear_attention import linear_attention
from tfm_core.model.transformer import Stack
from tfm_core.study import blocks as drawn
from tfm_ui.lenses.model.diagram.bare import Bare
from tfm_ui.lenses.model.diagram.flow import Flow, flow
from tfm_ui.lenses.model.diagram.formulas import formulas
from tfm_ui.lenses.model.diagram.numbers import Machine, config_in_words, machine
from tfm_ui.lenses.model.diagram.path import Path, path
from tfm_ui.lenses.model.diagram.pictures import PICTURES
from tfm_ui.lenses.model.diagram.rows import shape_out
from tfm_ui.lenses.model.diagram.shapes import OWN, THIS
from tfm_ui.lenses.model.other_attention import other_attention
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Panel, Result, Source
from tfm_ui.state.model_state import ModelState

SOURCES: dict[str, list[Source]] = {
    "embedding": [Stack.embed, nn.Embedding.forward],
    "position": [Stack.place],
    "norm": [TransformerLayer._add, nn.LayerNorm.forward],
    "cross_attention": [MultiHeadAttention.forward, attention_scores, attention_weights],
    "feed_forward": [FeedForward.forward],
    "sum": [TransformerLayer._add],
    "logits": [Transformer._logits],
    "head": [SequenceClassifier.forward],
}


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """The drawing, the picked block, and, where the model is live, one token's way."""
    shown = machine(model, state)
    if not shown.shown.live:
        return [_diagram_panel(shown), _block_panel(shown, Bare(shown), "")]
    through = flow(shown)
    return [_diagram_panel(shown), _block_panel(shown, through, "model_flow"), _path_panel(path(shown))]


def _diagram_panel(shown: Machine) -> Panel:
    live = "live" if shown.shown.live else "counted only"
    return Box(
        key="model_diagram",
        title=f"The machine, {live}",
        shape=config_in_words(shown),
        how_to_read="From the tokens upwards. Click a block: below are its formula, what flows in and out, and its "
        "program. Multiply-adds are those of matrix products.",
        picture="model_diagram",
        result=shown,
        sources=[stack_blocks, block_parameters, block_costs],
    )


def _block_panel(shown: Machine, result: Result, picture: str) -> Panel:
    block, config = shown.picked.block, shown.shown.config
    n = shown.shown.lengths[shown.stack]
    name = next(row.text for row in shown.rows_of(shown.stack) if row.picked)
    where = f"layer {block.layer + 1}" if block.layer is not None else ""
    stack = shown.stack if len(shown.counts) > 1 else ""
    place = ", ".join(filter(None, (stack, where)))
    return Box(
        key="model_flow",
        title=f"The block: {name}" + f" ({place})" * bool(place),
        how_to_read="What flows in and out, token × dimension, on one scale. " * isinstance(result, Flow)
        + "Costs: n tokens, m tokens of the encoder, d = d_model, dₖ = d / h, h heads, V token ids, C classes.",
        shape=f"out: {shape_out(block, shown.shown, n)[1]}",
        locked=True,
        picture=picture,
        result=result,
        sources=[source for source in _sources(block, config) if inspect.isroutine(source)],
        tools=partial(_formula, shown),
    )


def _sources(block: drawn.Block, config: TransformerConfig) -> list[Source]:
    """The program of a block; self-attention is the configuration's, with what it changes of the full one."""
    if block.kind != "self_attention":
        return SOURCES[block.kind]
    entry = ATTENTION[config.attention]
    changed: list[Source] = [entry.pattern, entry._attend] if entry is not MultiHeadAttention else []
    maths: list[Source] = [attention_scores, attention_weights] if entry.has_scores else [linear_attention]
    return [MultiHeadAttention.forward, *changed, *maths]


def _formula(shown: Machine) -> None:
    """The picked block's formulas."""
    for formula in formulas(shown.picked.block, shown.shown.config):
        st.latex(formula, width="content")


def _path_panel(shown: Path) -> Panel:
    return Box(
        key="model_path",
        title=f"The way of “{shown.names[shown.token]}”",
        how_to_read="The length of its vector in the residual stream after each block. How far each block turned "
        "it is in the table and, where it has room, beside the block in the diagram. Choose the token above.",
        picture="model_path",
        result=shown,
        sources=[Stack.run, TransformerLayer._add],
    )


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


def _running(model: ModelState, state: ModelLensState) -> str:
    return "Running the model" if model.is_heavy else ""


VIEW = View(
    title="Machine",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
    running=_running,
    never_trained=other_attention,
)
