"""The button that measures, and what is told while it does."""

import streamlit as st

from tfm_core.profiling import Plan, Report, profile
from tfm_ui import controls, measurements
from tfm_ui.profiling_lens.state import PREFIX


def bar(plan: Plan | None, named: str) -> Report | None:
    """Draw it, and return the measurement that is to be shown, if there is one.

    Args:
        plan: what the button measures; None if there is nothing.
        named: the measurement that the link asks for.
    """
    if plan is not None:
        st.button("Measure", on_click=_measure, args=(plan,), key="_profiling_measure", type="primary")
    return measurements.find(plan, named)


def _measure(plan: Plan) -> None:
    for progress in profile(plan):
        measurements.keep(progress.report)
    controls.assign(PREFIX, run=progress.report.id)
