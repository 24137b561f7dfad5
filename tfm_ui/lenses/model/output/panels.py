"""The view "output": final norm, logits, temperature, softmax; the logit lens; tied and untied embeddings."""

from dataclasses import replace
from typing import Any

import streamlit as st
from torch import nn

from tfm_core import Transformer, logit_lens
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.output import lens, numbers, outcome
from tfm_ui.lenses.model.output.lens import AtToken, LayerByLayer
from tfm_ui.lenses.model.output.norm import FinalNorm, final_norm
from tfm_ui.lenses.model.output.numbers import ByPosition, Likeliest
from tfm_ui.lenses.model.output.pictures import PICTURES
from tfm_ui.lenses.model.output.tied import TiedAndUntied, tied_and_untied
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page import controls, controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """A position's likeliest tokens, every position's, the logit lens, the final norm, tied and untied."""
    shown, read = numbers.likeliest(model, state), lens.layer_by_layer(model, state)
    norm, both = final_norm(model, state), tied_and_untied(model, state)
    return [
        _likeliest_panel(shown),
        Note(_elsewhere(shown, state)) if shown.token + 1 != state.token else None,
        _positions_panel(numbers.by_position(model, state), shown.token),
        Columns([[_lens_panel(read)], [_at_panel(AtToken(read))]]),
        Columns([[_norm_panel(norm)], [_tied_panel(both)]]),
    ]


def _elsewhere(shown: Likeliest, state: ModelLensState) -> str:
    text = "target text" if shown.out.model.is_encoder_decoder else "text"
    return f"The {text} ends before position {state.token}, so its last position, {shown.token + 1}, is shown."


def _likeliest_panel(shown: Likeliest) -> Panel:
    return Box(
        key="model_output",
        title=f"Likeliest tokens at “{shown.out.names[shown.token]}”",
        how_to_read=f"Beside each bar: logit / temperature → through the softmax, its probability. {_names(shown)}",
        picture="model_output",
        result=shown,
        sources=[outcome.outcome, outcome.probabilities, Transformer._logits, nn.Linear.forward],
    )


def _names(shown: Likeliest) -> str:
    if shown.out.model.is_lab_gpt:
        return "“·” stands for a space: most tokens begin with one."
    return "No word of these texts has an id that is shown without a word."


def _positions_panel(shown: ByPosition, token: int) -> Panel:
    return Box(
        key="model_output_positions",
        title="Every position",
        how_to_read="A row for each position of the text. A click on a row shows its tokens above; a click on a "
        "column’s name sorts.",
        result=shown,
        open_table=OpenTable(_columns(shown), row=token, choose=_choose, not_on_phones=("entropy", "rank of itself")),
        sources=[numbers.by_position, outcome.ranks_of, outcome.probabilities],
    )


def _columns(shown: ByPosition) -> dict[str, Any]:
    """How the table's columns are drawn."""
    number, bar = st.column_config.NumberColumn, st.column_config.ProgressColumn
    most = 100 * float(shown.shares.max())
    return {
        "likeliest": st.column_config.TextColumn(help="the likeliest token of the vocabulary"),
        "probability": bar(format="%.2f%%", min_value=0, max_value=most, help="of that token, at this temperature"),
        "entropy": number(format="%.2f", help="nats; 0 is one token alone"),
        "rank of itself": number(help="of the token that stands there; 1 is the likeliest"),
    }


def _choose(row: int) -> None:
    controls.change(PREFIX, token=row + 1)


def _norm_panel(shown: FinalNorm) -> Panel:
    return Box(
        key="model_output_norm",
        title="The final norm" if shown.norm is not None else "No final norm",
        how_to_read="The length of each position’s vector when it leaves the last layer, and what the logits are made "
        f"of. {shown.out.model.if_random('Random weights: gain is 1 and shift 0.')}".strip(),
        shape=f"position × d_model = {len(shown.out.names)} × {shown.out.config.d_model}",
        picture="model_output_norm",
        result=shown,
        sources=[final_norm, FinalNorm.spread_without, Stack.run, nn.LayerNorm.forward],
    )


def _lens_panel(shown: LayerByLayer) -> Panel:
    return Box(
        key="model_output_lens",
        title="The logit lens",
        how_to_read="The final norm, if there is one, and the output matrix, applied after each layer; temperature 1. "
        "A click on a column opens it beside. The idea: nostalgebraist 2020.",
        shape=f"place × position = {len(shown.read.places)} × {len(shown.out.names)}",
        picture="model_output_lens",
        result=shown,
        sources=[logit_lens, lens.read_outs, outcome.ranks_of],
    )


def _at_panel(shown: AtToken) -> Panel:
    whole = shown.whole
    return Box(
        key="model_output_at",
        title=f"The logit lens at “{whole.out.names[whole.token]}”",
        how_to_read="After each layer, the likeliest token by name, and the one that is likeliest after the last; "
        "temperature 1.",
        picture="model_output_at",
        result=shown,
        sources=[logit_lens, lens.read_outs],
    )


def _tied_panel(shown: TiedAndUntied) -> Panel:
    return Box(
        key="model_output_tied",
        title="Tied and untied embeddings",
        how_to_read="The probability, at each position, of the very token that stands there, at this temperature; all "
        "other weights are the same.",
        picture="model_output_tied",
        result=shown,
        sources=[tied_and_untied, Transformer._tie, fill_parameters, outcome.probabilities],
    )


def _controls(model: ModelState) -> ModelLensState:
    """The position, tied or not, behind a button how many tokens; beside them the temperature's slider."""
    line = controls_line.row("line_model_output")
    controls_line.draw(ModelLensState, PREFIX, model, line, "token", "tied")
    state = controls_line.draw_more(ModelLensState, PREFIX, model, line, "top", "attention")
    with st.container(key="model_output_knobs_place"):
        Drawing("model_output_knobs", ((model, ""), (state, PREFIX))).draw("model_output_knobs")
    return state


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    return "Running the model, tied and untied, with a read-out after each layer" if model.is_heavy else ""


def _never_trained(model: ModelState, state: ModelLensState) -> str:
    """A sentence that names those of these models for which trained weights were never trained."""
    config = config_of(model, state)
    return never_trained(model, [replace(config, tie_embeddings=tied) for tied in (True, False)])


VIEW = View(
    title="Output", blocks=blocks, drawn=PICTURES, controls=_controls, running=_running, never_trained=_never_trained
)
