"""The view "model", what the schemes do in the sidebar's model: maps, scores by distance, shuffled words."""

from functools import partial
from html import escape

import streamlit as st

from tfm_core import MultiHeadAttention, attention_scores, attention_weights
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.transformer import Stack
from tfm_core.study import order
from tfm_core.study.analysis import mean_by_distance
from tfm_ui.lenses.positions import readings
from tfm_ui.lenses.positions.model.entry import SOURCES, Diagram, diagram
from tfm_ui.lenses.positions.model.numbers import Distances, Maps, maps
from tfm_ui.lenses.positions.model.pictures import PICTURES
from tfm_ui.lenses.positions.model.shuffle import Shuffle, shuffle
from tfm_ui.lenses.positions.model_runs import left_out, other_positions
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live.origins import Heads, Origin
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """Where the schemes enter, one head under each, its scores by distance, and the words shuffled."""
    aside, shown = left_out(model, state), maps(model, state)
    return [
        _maps_panel(shown),
        Note(aside) if aside else None,
        _entry_panel(diagram(model, state)),
        Columns([[_distance_panel(shown)], [_shuffle_panel(model, state, shuffle(model, state))]], widths=[9, 11]),
    ]


def _running(model: ModelState, state: PositionsState) -> str:
    """What is said while a model runs that takes seconds."""
    return "Running the model under each of these schemes, twice" if left_out(model, state) else ""


def _entry_panel(way: Diagram) -> Panel:
    return Box(
        key="positions_entry",
        title="Where they enter",
        how_to_read="The way of a token through the sidebar’s model. Dashed: where a scheme could enter, and "
        "neither A nor B does.",
        picture="positions_entry",
        result=way,
        sources=SOURCES,
    )


def _maps_panel(shown: Maps) -> Panel:
    return Box(
        key="positions_maps",
        title="The same weights, other positions",
        how_to_read=f"The attention of {shown.where} under each scheme, on one scale. Rows look at columns.",
        shape=f"query × key = {shown.model.length} × {shown.model.length}",
        picture="positions_maps",
        result=shown,
        sources=[
            readings.read,
            readings.shared_weights,
            MultiHeadAttention.forward,
            attention_scores,
            attention_weights,
            fill_parameters,
        ],
    )


def _distance_panel(shown: Maps) -> Panel:
    return Box(
        key="positions_distance",
        title="Mean score by distance",
        how_to_read=f"q·k / √dₖ, and the bias where there is one, in {shown.where}; over all pairs that may look.",
        picture="positions_distance",
        result=Distances(shown),
        sources=[mean_by_distance, readings.one_head, Heads.with_scores, Origin.scores, attention_scores],
    )


def _shuffle_panel(model: ModelState, state: PositionsState, shown: Shuffle) -> Panel:
    output = "encoder output" if model.is_encoder_decoder else "output"
    return Box(
        key="positions_shuffled",
        title="Shuffle the words",
        how_to_read=f"How far each token’s {output} moved, matched by token; 0: it moved with its word.",
        tools=partial(_draw_texts, model, state, shown),
        picture="positions_shuffled",
        result=shown,
        sources=[
            order.shuffle_order,
            order.moved,
            order.difference,
            readings.read,
            Stack.place,
            Stack.run,
        ],
    )


def _draw_texts(model: ModelState, state: PositionsState, shown: Shuffle) -> None:
    """The text before and after, and buttons for another order and without the causal mask."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_shuffle"):
        st.button(
            "Shuffle again",
            icon=":material/shuffle:",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"shuffle": (state.shuffle + 1) % 10_000},
            disabled=shown.in_order,
            key="_positions_shuffle",
        )
        if model.masks_the_future:
            st.button(
                "Switch the causal mask off",
                on_click=controls.change,
                args=("",),
                kwargs={"causal": False},
                key="_positions_causal",
            )
    before, after = shown.texts()
    st.html(
        f'<p class="order"><span>as written</span><span dir="auto">{escape(before)}</span></p>'
        f'<p class="order"><span>shuffled</span><span dir="auto">{escape(after)}</span></p>'
    )


VIEW = View(
    never_trained=other_positions,
    title="In the model",
    blocks=blocks,
    drawn=PICTURES,
    controls=("a", "b", "layer", "model_head"),
    line="line_positions",
    running=_running,
)
