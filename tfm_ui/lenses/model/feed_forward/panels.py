"""The view "feed_forward": activations, the hidden units that they make, sizes, and a single unit."""

from dataclasses import replace
from typing import Any

import streamlit as st

from tfm_core import ACTIVATIONS, FeedForward
from tfm_ui.lenses.model.feed_forward import hidden as hidden_units
from tfm_ui.lenses.model.feed_forward import recipe
from tfm_ui.lenses.model.feed_forward.curves import Curves, curves
from tfm_ui.lenses.model.feed_forward.hidden import CALLED, READ, Hidden, hidden
from tfm_ui.lenses.model.feed_forward.pictures import PICTURES
from tfm_ui.lenses.model.feed_forward.sizes import Sizes, sizes
from tfm_ui.lenses.model.feed_forward.unit import MOST, Unit, unit
from tfm_ui.lenses.model.machine import config_of, read_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, OpenTable, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """The curves, the hidden units under each, one unit, and the sizes."""
    shown = hidden(model, state)
    return [
        _curves_panel(curves(shown)),
        _hidden_panel(shown),
        _unit_panel(unit(shown, state)),
        _sizes_panel(sizes(model, state)),
    ]


def _where(shown: Hidden) -> str:
    stack, _, rest = shown.site.rpartition("layers.")
    return f"layer {int(rest.split('.')[0]) + 1}" + (f" of the {stack.rstrip('.')}" if stack else "")


def _curves_panel(shown: Curves) -> Panel:
    return Box(
        key="model_activations",
        title="The activations and their derivatives",
        how_to_read=f"Shaded: the middle 90% of what {CALLED[shown.hidden.activation]} reads in {_where(shown.hidden)} "
        "of the live model. SwiGLU is SiLU of a gate, times a second projection. GELU: x Φ(x), Hendrycks and Gimpel "
        "2016.",
        picture="model_activations",
        result=shown,
        sources=[recipe.curves, FeedForward.forward],
    )


def _hidden_panel(shown: Hidden) -> Panel:
    number = st.column_config.NumberColumn
    cut = f" The first {READ} tokens." if read_of(shown.tokens) > READ else ""
    percents: dict[str, Any] = {
        name: number(format="percent") for name in shown.table().columns if name not in ("least", "most")
    }
    return Box(
        key="model_hidden",
        title=f"Hidden units under each, {_where(shown)}",
        how_to_read="What the output projection reads, on one scale. Each map is a model that differs in its "
        f"activation alone; SwiGLU has a gate beside.{cut}",
        shape=f"token × d_ff = {len(shown.names)} × {formats.count(shown.config.feed_forward_dim)}",
        picture="model_hidden",
        result=shown,
        open_table=OpenTable(
            percents | {"least": number(format="%.3f"), "most": number(format="%.3f")},
            not_on_phones=("negative", "least", "most"),
        ),
        sources=[FeedForward.forward, hidden_units.recorded],
    )


def _unit_panel(shown: Unit) -> Panel:
    cut = f" The first {MOST} tokens." if len(shown.hidden.names) > len(shown.fires) else ""
    return Box(
        key="model_one_unit",
        title=f"Hidden unit {shown.unit + 1}, {_where(shown.hidden)}, {shown.hidden.activation}",
        how_to_read="Fires: its value at each token. Writes towards: the cosine of the vector that it writes with each "
        f"token’s embedding. Choose the unit above.{cut}",
        picture="model_one_unit",
        result=shown,
        sources=[FeedForward.forward, recipe.single_unit],
    )


def _sizes_panel(shown: Sizes) -> Panel:
    number = st.column_config.NumberColumn(format="localized")
    columns: dict[str, Any] = {
        "width": number,
        "compared at": st.column_config.TextColumn(),
        "parameters": number,
        "without biases": number,
        "multiply-adds per token": number,
    }
    return Box(
        key="model_ffn_sizes",
        title="Parameters and cost",
        how_to_read="Counted on the modules themselves. Multiply-adds are those of matrix products.",
        shape=f"d_model × d_ff = {formats.count(shown.d_model)} × {formats.count(shown.d_ff)}",
        result=shown,
        open_table=OpenTable(columns, not_on_phones=("compared at", "without biases")),
        sources=[recipe.sizes, FeedForward.__init__],
    )


def _controls(model: ModelState) -> ModelLensState:
    """Which network, which of its units, and which size is counted."""
    line = controls_line.row("line_model_feed_forward")
    controls_line.draw(ModelLensState, PREFIX, model, line, "stack", "layer", "unit", "ffn_size")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "attention")


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    return "Running the model with each activation" if model.is_heavy else ""


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """A sentence that names those of these models for which trained weights were never trained."""
    config = config_of(model, state)
    return never_trained(model, [*(replace(config, activation=name) for name in ACTIVATIONS)])


VIEW = View(
    title="Feed-forward",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
    running=_running,
    never_trained=_never_trained,
)
