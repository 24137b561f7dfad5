"""The view "fault": the encoding added along the wrong axis, beside the right one."""

import inspect

import streamlit as st

from tfm_core.study import order
from tfm_ui.lenses.positions import readings
from tfm_ui.lenses.positions.fault.numbers import Added, Consequences, Fault, fault, model_of, scheme_of
from tfm_ui.lenses.positions.fault.pictures import PICTURES
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState

SOURCES = (order.along_sequence, order.along_batch, readings.read)


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """What each way adds, and what becomes of it."""
    shown = fault(model, state)
    aside = shown.aside(model)
    return [
        _added_panel(state, shown),
        Note(aside) if aside else None,
        _maps_panel(state, shown),
        _draw_both_functions,
    ]


def _added_panel(state: PositionsState, shown: Fault) -> Panel:
    return Box(
        key="positions_fault_added",
        title=f"What is added to sentence {shown.item} of {state.batch}: {scheme_of(state)}",
        how_to_read="Each row is a position, each column a dimension; both maps on one scale.",
        shape=f"seq × d_model = {shown.model.length} × {shown.model.d_model}",
        picture="positions_fault_added",
        result=Added(shown),
        sources=SOURCES,
    )


def _draw_both_functions() -> None:
    for column, way in zip(st.columns(2, gap="medium"), (order.along_sequence, order.along_batch), strict=True):
        column.code(inspect.getsource(way), wrap_lines=True)


def _maps_panel(state: PositionsState, shown: Fault) -> Panel:
    return Box(
        key="positions_fault_maps",
        title="What becomes of it",
        how_to_read=f"The attention of layer {state.layer}, head {state.model_head} in the sidebar’s model, with "
        f"{scheme_of(state)}: rows look at columns.",
        shape=f"query × key = {shown.model.length} × {shown.model.length}",
        picture="positions_fault_maps",
        result=Consequences(shown),
        sources=(*SOURCES, order.shuffle_order, order.moved),
    )


def _other_positions(model: ModelState, state: PositionsState) -> str:
    """A sentence that trained weights were never trained with this scheme; "" if they were."""
    return never_trained(model, [model_of(model, state).config])


VIEW = View(
    never_trained=_other_positions,
    title="Wrong axis",
    blocks=blocks,
    drawn=PICTURES,
    controls=("a", "b", "batch", "item", "layer", "model_head"),
    line="line_positions",
)
