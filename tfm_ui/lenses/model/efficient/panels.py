"""The view "efficient": other attentions on the same weights, the fused kernel's tiles, and what each costs."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch.nn.functional as F

from tfm_core import ATTENTION, MultiHeadAttention, attention_costs, tiled_attention, tiles, visible_pairs
from tfm_core.model.linear_attention import linear_attention, linear_attention_weights
from tfm_ui.lenses.model.efficient import recipe
from tfm_ui.lenses.model.efficient.compared import Compared, compared
from tfm_ui.lenses.model.efficient.costs import Costs, costs
from tfm_ui.lenses.model.efficient.pictures import PICTURES
from tfm_ui.lenses.model.efficient.tiling import Held, Tiling, biased, tiling
from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState, possible, why_not_all
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """Who sees whom, the costs, and the tiling step by step."""
    shown = compared(model, state)
    step = tiling(shown, state)
    return [
        _compared_panel(shown),
        Note(_about(model)),
        _costs_panel(costs(model, state)),
        _tiles_panel(step, model, state),
        _running_panel(step),
    ]


def _about(model: ModelState) -> str:
    """What each attention is, and why one of them is not possible here."""
    said = "  \n".join(ATTENTION[name].about for name in possible(model))
    return f"{said}  \n{why_not_all(model)}".rstrip()


def _compared_panel(shown: Compared) -> Panel:
    stack, _, rest = shown.site.rpartition("layers.")
    return Panel(
        key="model_efficient",
        title="Who sees whom, on the same weights",
        how_to_read=f"The weights of head {shown.head + 1} in layer {int(rest.split('.')[0]) + 1}"
        f"{' of the ' + stack.rstrip('.') if stack else ''}, each attention on the same input. Hatched: hidden. "
        "Linear: the matrix that it implies and never writes.",
        shape=f"query × key = {len(shown.names)} × {len(shown.names)}",
        picture="model_efficient",
        result=shown,
        sources=[
            recipe.on_the_same_weights,
            MultiHeadAttention.forward,
            *(entry.pattern for name, entry in ATTENTION.items() if name in ("window", "strided")),
            linear_attention,
            linear_attention_weights,
        ],
    )


def _costs_panel(shown: Costs) -> Panel:
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {
        "grows with": st.column_config.TextColumn(help="n tokens, d = d_model, dₖ = d / heads"),
        "pairs seen": number(format="localized", help="of a query and a key"),
        "multiply-adds needed": number(format="localized", help="for these pairs alone, without the projections"),
        "computed here": number(format="localized", help="multiply-adds of the code of this app"),
        "numbers held": number(
            format="localized",
            help="scores; the sums over the keys and their normaliser; or a maximum and a running sum for each query",
        ),
    }
    return Panel(
        key="model_efficient_growth",
        title="What each costs",
        how_to_read=f"Of one layer’s self-attention without its projections, d_model {shown.d_model}, "
        f"{formats.plural(shown.num_heads, 'head')}. The table is for the {formats.plural(shown.n, 'token')} on "
        "screen. Padding counts as tokens. With one head, n d dₖ is the n d² of the papers; linear "
        "attention’s normaliser, n d more, is counted. What is held is what lasts: "
        "the one tile that the fused kernel works on, and its output, are left out. Time is measured in Profiling.",
        picture="model_efficient_growth",
        result=shown,
        open_table=OpenTable(columns, not_on_phones=("pairs seen", "numbers held")),
        sources=[attention_costs, visible_pairs],
    )


def _tiles_panel(shown: Tiling, model: ModelState, state: ModelLensState) -> Panel:
    bias = " Without the bias of the positions." if biased(model) else ""
    return Panel(
        key="model_efficient_tiles",
        title="The fused kernel, tile by tile",
        how_to_read=f"The first {formats.plural(len(shown.plain), 'token')}, in tiles of {shown.side} × {shown.side}; "
        "▸ marks the tile of this step. Beside the scores: what they come to with the maximum m and sum l so far. A "
        f"GPU does rows of tiles at the same time, and skips tiles in which all is hidden.{bias}",
        picture="model_efficient_tiles",
        result=shown,
        locked=True,
        tools=partial(_step, model, state),
        sources=[tiles, tiled_attention, F.scaled_dot_product_attention],
    )


def _running_panel(shown: Tiling) -> Panel:
    return Panel(
        key="model_efficient_running",
        title="What is held for each query",
        how_to_read="After this step, beside what it will be after the last. A query before its first tile has no "
        "value: a cross on the axis. Milakov and Gimelshein 2018; Dao et al. 2022.",
        picture="model_efficient_running",
        result=Held(shown),
        sources=[tiles],
    )


def _step(model: ModelState, state: ModelLensState) -> None:
    """The slider of the step."""
    Drawing("model_efficient_knob", ((model, ""), (state, PREFIX))).draw("model_efficient_knob")


def _controls(model: ModelState) -> ModelLensState:
    """Which stack, layer and head, and how large a tile."""
    line = controls_line.row("line_model_efficient")
    return controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "head", "tile")


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    return "Running the model with each attention" if model.is_heavy else ""


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """A sentence that names those of these models for which trained weights were never trained."""
    config = config_of(model, state)
    return never_trained(model, [*(replace(config, attention=name) for name in possible(model))])


VIEW = View(
    title="Efficient",
    blocks=blocks,
    pictures=PICTURES,
    controls=_controls,
    running=_running,
    never_trained=_never_trained,
)
