"""The view "table": what the library knows of each scheme, and ways into the other views."""

from functools import partial

import streamlit as st

from tfm_core import Positional
from tfm_core.positional.schemes import About
from tfm_ui.lenses.positions.controls import positions_alone
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.table.numbers import SchemesTable, parameters, schemes_table
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Panel
from tfm_ui.state.model_state import ModelState

TRY = {  # what a button says -> the lens's fields
    "Waves beside turns": {"view": "see", "a": "sinusoidal", "b": "rope"},
    "Slopes beside buckets": {"view": "see", "a": "alibi", "b": "t5"},
    "One score per distance": {"view": "why", "a": "rope", "b": "sinusoidal"},
    "Past the end of a learned table": {"view": "beyond", "a": "learned", "b": "sinusoidal"},
    "Words without an order": {"view": "model", "a": "none", "b": "rope"},
}


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """The table, and below it the buttons."""
    return [_table_panel(schemes_table(model, state)), _draw_ways_into_views]


def _table_panel(schemes: SchemesTable) -> Panel:
    return Box(
        key="positions_table",
        title="The schemes",
        how_to_read="A row per scheme of the library. Parameters are counted in the sidebar’s model.",
        tools=partial(_draw_table, schemes),
        result=schemes,
        sources=[About, Positional.enters, parameters],
    )


def _draw_table(schemes: SchemesTable) -> None:
    st.html(schemes.html())


def _draw_ways_into_views() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_try"):
        st.html('<p class="side">Try</p>', width="content")
        for label, fields in TRY.items():
            key = f"_try_{fields['view']}_{fields['a']}"
            st.button(label, on_click=controls.change, args=(PREFIX,), kwargs=fields | {"question": ""}, key=key)


VIEW = View(
    title="All schemes", blocks=blocks, controls=("a", "b"), line="line_positions", reads_instead=positions_alone
)
