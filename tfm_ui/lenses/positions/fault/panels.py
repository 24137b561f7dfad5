"""The encoding added along the wrong axis, beside the right one."""

import inspect

import streamlit as st

from tfm_core.study import order
from tfm_ui.lenses.positions.boxes import boxes, states
from tfm_ui.lenses.positions.fault import numbers as fault
from tfm_ui.lenses.positions.fault import recipe as fault_recipe
from tfm_ui.page import controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """The encoding added along the wrong axis, beside the right one."""
    line = controls_line.row("positions")
    state = boxes(model, line, "a", "b", "batch", "item", "layer", "model_head")
    seen = fault.view(model, state)
    with st.container(key="positions_asides"):
        if aside := seen.aside(model):
            st.info(aside)
    with panel("positions_fault_added") as show:
        for column, way in zip(st.columns(2, gap="medium"), (order.along_sequence, order.along_batch), strict=True):
            column.code(inspect.getsource(way), wrap_lines=True)
        show(
            title=f"What is added to sentence {seen.item} of {state.batch}: {fault.scheme_of(state)}",
            how_to_read="Each row is a position, each column a dimension; both maps on one scale. The functions above "
            "are those that ran.",
            shape=f"seq × d_model = {seen.model.seq_len} × {seen.model.d_model}",
            picture=Drawing("positions_fault_added", states(model, state)),
            sentence=seen.about_added(),
            laws=seen.laws_added(),
            table=seen.added_table,
            sources=fault.SOURCES,
            recipe=fault_recipe.recipe_of(seen),
            mode=frame.mode(),
        )
    with panel("positions_fault_maps") as show:
        show(
            title="What becomes of it",
            how_to_read=f"The attention of layer {state.layer}, head {state.model_head} in the sidebar’s model, with "
            f"{fault.scheme_of(state)}: rows look at columns.",
            shape=f"query × key = {seen.model.seq_len} × {seen.model.seq_len}",
            picture=Drawing("positions_fault_maps", states(model, state)),
            sentence=seen.about_maps(),
            laws=seen.laws_maps(),
            table=seen.maps_table,
            sources=fault.MAPS_SOURCES,
            recipe=fault_recipe.recipe_of(seen),
            mode=frame.mode(),
        )
