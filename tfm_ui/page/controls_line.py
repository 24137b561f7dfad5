"""The line of controls that stands above a view."""

from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.page import controls
from tfm_ui.state.fields import Limits, State

S = TypeVar("S", bound=State)


def boxes(state: type[S], prefix: str, limits: Limits, where: DeltaGenerator, *names: str) -> S:
    """Draw these controls of a page, and return what all of them hold."""
    for name in names:
        controls.draw(state, name, where, prefix=prefix, limits=limits)
    return controls.current(state, prefix, limits)


def row(key: str) -> DeltaGenerator:
    """A line of controls above a picture."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"line_{key}")
