"""The way to another lens whose controls are to have certain values."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.page.lens import LENS_SCRIPT, Lens


def page(lens: Lens) -> st.Page:
    """The lens's page; the one with a script of its own is the app's first."""
    return lens.page(default=lens.script != LENS_SCRIPT)


def parameters(lens: Lens, values: Mapping[str, Any]) -> dict[str, str]:
    """The parameters for a switch to the lens's page, on which its controls then have these values.

    Those are left out that the page would have anyway.
    """
    at_first, kept = controls.defaults(lens.state, lens.prefix), st.session_state.get(controls.KEPT, {})

    def is_said(key: str, value: Any) -> bool:
        return bool(value != at_first[key] or kept.get(key, st.session_state.get(key, value)) != value)

    return controls.open_with(**{key: value for key, value in values.items() if is_said(key, value)})
