"""The table of schemes, and ways into the other views."""

import streamlit as st

from tfm_core import Positional
from tfm_core.positional.schemes import About
from tfm_ui.lenses.positions.boxes import boxes
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.lenses.positions.table import numbers as table
from tfm_ui.page import controls, controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.state.model_state import ModelState

TRY = {  # what a button says -> the lens's fields
    "Waves beside turns": {"view": "see", "a": "sinusoidal", "b": "rope"},
    "Slopes beside buckets": {"view": "see", "a": "alibi", "b": "t5"},
    "One score per distance": {"view": "why", "a": "rope", "b": "sinusoidal"},
    "Past the end of a learned table": {"view": "beyond", "a": "learned", "b": "sinusoidal"},
    "Words without an order": {"view": "model", "a": "none", "b": "rope"},
}


def draw(model: ModelState) -> None:
    """The table of schemes, and ways into the other views."""
    state = boxes(model, controls_line.row("positions"), "a", "b")
    with panel("positions_table") as show:
        st.html(table.html(model, state))
        show(
            title="The schemes",
            how_to_read="A row per scheme of the library. Parameters are counted in the sidebar’s model.",
            sentence=table.sentence(model),
            table=lambda: table.table(model, state),
            sources=[About, Positional.enters, table.parameters],
            mode=frame.mode(),
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_try"):
        st.html('<p class="side">Try</p>', width="content")
        for label, fields in TRY.items():
            st.button(
                label,
                on_click=controls.change,
                args=(PREFIX,),
                kwargs=fields,
                key=f"_try_{fields['view']}_{fields['a']}",
            )
