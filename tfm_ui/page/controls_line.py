"""The one row of controls above a picture. It never wraps: what does not fit is in "More", or scrolls sideways."""

from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.page import controls
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

S = TypeVar("S", bound=LensState)


def draw(state: type[S], prefix: str, model: ModelState, where: DeltaGenerator, *names: str) -> S:
    """Draw these controls of a lens, except those that mean nothing for the model; return the lens's state."""
    limits, without_meaning = state.limits(model), state.without_meaning(model)
    for name in names:
        if name not in without_meaning:
            controls.draw(state, name, where, prefix=prefix, limits=limits)
    return controls.current(state, prefix, limits)


def draw_more(state: type[S], prefix: str, model: ModelState, where: DeltaGenerator, *names: str) -> S:
    """Draw these controls behind a button at the end of the row; return the lens's state."""
    return draw(state, prefix, model, more(where), *names)


def more(where: DeltaGenerator, label: str = "More") -> DeltaGenerator:
    """The place behind a button in this row."""
    icon = ":material/tune:" if label == "More" else None
    inside: DeltaGenerator = where.popover(label, icon=icon, type="tertiary", key=f"_{label.lower().replace(' ', '_')}")
    return inside


def row(key: str) -> DeltaGenerator:
    """A container for a row of controls; `key` is its key on the page."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", wrap=False, key=key)
