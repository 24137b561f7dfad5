"""The view "parts"."""

import streamlit as st

from tfm_ui import controls_line
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.state import plan_of
from tfm_ui.profiling_views import measure
from tfm_ui.profiling_views.boxes import boxes


def draw(model: ModelState) -> None:
    """What it shows."""
    state = boxes(model, controls_line.row("profiling"), "rounds", "backward")
    report = measure.bar(plan_of(model, state), state.run)
    st.write([(m.row.target, m.row.size.seq_len, m.forward.median) for m in report.measured] if report else "nothing")
