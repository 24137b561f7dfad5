"""The view "block": one block number by number, and with its norm at the other place."""

from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st
from torch import nn

from tfm_core import NORMS, MultiHeadAttention, TransformerLayer
from tfm_core.model.feed_forward import FeedForward
from tfm_core.model.initialization import fill_parameters
from tfm_ui.lenses.model.block import chain, chosen
from tfm_ui.lenses.model.block.both import Both, Lengths, both
from tfm_ui.lenses.model.block.cell import Cell
from tfm_ui.lenses.model.block.chosen import Chosen
from tfm_ui.lenses.model.block.moments import Moments
from tfm_ui.lenses.model.block.numbers import Steps, steps
from tfm_ui.lenses.model.block.pictures import PICTURES
from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel, Source
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """The block's steps, one number of them, the block under both norms, and its tokens' means and lengths."""
    shown = steps(model, state)
    under_both = both(shown)
    return [
        _steps_panel(shown),
        Note(_elsewhere(state)) if chosen.sub_layer_of(model, state) != state.sub_layer.replace("-", "_") else None,
        _cell_panel(Cell(shown)),
        _both_panel(under_both),
        Columns([[_moments_panel(Moments(shown))], [_lengths_panel(Lengths(under_both))]]),
    ]


def _elsewhere(state: ModelLensState) -> str:
    return (
        "Cross-attention is in the decoder of an encoder-decoder alone. This stack has none, so its self-attention is "
        "shown."
    )


def _sources(shown: Chosen) -> list[Source]:
    sub_layer = FeedForward if shown.chain.site.endswith("feed_forward") else MultiHeadAttention
    return [
        chosen.chain,
        chain.layer_norm,
        chain.dropout_factors,
        TransformerLayer._add,
        sub_layer.forward,
        nn.LayerNorm.forward,
    ]


def _steps_panel(shown: Steps) -> Panel:
    order = "norm, sub-layer, sum" if shown.chain.pre_norm else "sub-layer, sum, norm"
    return Box(
        key="model_block",
        title=f"One block: {order}",
        shape=f"token × d_model = {len(shown.names)} × {shown.model.d_model}",
        how_to_read="A row is one token’s vector. Click a cell: below, its number is derived."
        + shown.model.if_random(" Weights are random: the arithmetic is that of a trained model, the values are not."),
        picture="model_block",
        result=shown,
        sources=_sources(shown),
        tools=partial(_draw_again, shown.state) if shown.state.dropout else None,
    )


def _draw_again(state: ModelLensState) -> None:
    """Another draw of the dropout."""
    st.button(
        f"Draw again (draw {state.dropout_draw})",
        icon=":material/casino:",
        on_click=controls.change,
        args=(PREFIX,),
        kwargs={"dropout_draw": state.dropout_draw % 9999 + 1},
        key="_model_block_draw",
    )


def _cell_panel(cell: Cell) -> Panel:
    name = cell.block.names[cell.block.token]
    return Box(
        key="model_block_cell",
        title=f"“{name}”, dimension {cell.block.dim + 1}",
        how_to_read="Computed in float64, rounded on screen. Mean and variance: Ba et al. 2016, equations 3 and 4.",
        locked=True,
        result=cell,
        sources=_sources(cell.block),
        tools=partial(_lines, cell),
    )


def _lines(cell: Cell) -> None:
    """A line per step."""
    rows = (f"<span>{escape(step.name)}</span><span>{escape(step.line)}</span>" for step in cell.lines)
    st.html("".join(f'<p class="order">{row}</p>' for row in rows))


def _moments_panel(shown: Moments) -> Panel:
    return Box(
        key="model_block_moments",
        title="Mean and variance",
        how_to_read="Of the numbers of each token’s vector, before the norm and after gain and shift.",
        picture="model_block_moments",
        result=shown,
        sources=[chain.layer_norm, nn.LayerNorm.forward],
    )


def _both_panel(shown: Both) -> Panel:
    return Box(
        key="model_block_both",
        title="Pre-norm and post-norm, the same weights",
        how_to_read="f is the sub-layer. The first map leaves the block in pre-norm, the third in post-norm. Without "
        "dropout.",
        shape=f"token × d_model = {len(shown.block.names)} × {shown.block.model.d_model}",
        picture="model_block_both",
        result=shown,
        sources=[*_sources(shown.block), fill_parameters],
    )


def _lengths_panel(shown: Lengths) -> Panel:
    return Box(
        key="model_block_lengths",
        title="Length of each vector",
        how_to_read="The length ‖x‖ of each token’s vector before the block and after it, under both norms.",
        picture="model_block_lengths",
        result=shown,
        sources=[chosen.chain, TransformerLayer._add, nn.LayerNorm.forward],
    )


def _controls(model: ModelState) -> ModelLensState:
    """Which block, which of its steps, and dropout. The token has no room: a click chooses it, too."""
    line = controls_line.row("line_model_block")
    controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "sub_layer", "step", "dropout")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention", "token")


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while a model runs that takes seconds."""
    return "Running the model under both norms" if model.is_heavy else ""


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """A sentence that names those of these models for which trained weights were never trained."""
    config = config_of(model, state)
    return never_trained(model, [*(replace(config, norm=norm) for norm in NORMS)])


VIEW = View(
    never_trained=_never_trained,
    title="Block",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
    running=_running,
)
