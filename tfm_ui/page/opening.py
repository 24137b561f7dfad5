"""A lens that opens on a model of its own choice: the first visit shows it, where a link asks for nothing."""

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.page.present import PARAMETER
from tfm_ui.state.fields import State, controls_of, held_by
from tfm_ui.state.links import as_text, link_parameters
from tfm_ui.state.model_state import ModelState

OPENS_WITH = "_opens_with"  # key of the session state: field of the model -> value, of the lens that is open


def begin(fields: Mapping[str, str]) -> None:
    """Ask for this at the first visit, if the link asks for nothing. Call it before the model's link is opened."""
    st.session_state[OPENS_WITH] = fields
    if controls.KNOWN not in st.session_state and _asks_for_nothing():
        st.query_params.update(fields)
        known = controls_of(ModelState)
        for name in fields.keys() - held_by(ModelState):  # Streamlit reads the address before the page runs
            field, default = known[name]
            st.session_state[name], _ = field.read(fields[name], default)


def name_fields() -> None:
    """Write these fields into an address that would be empty, as that means `begin`. Call it after all controls.

    Only those without a widget: widgets write their own, and one field makes an address that asks for something.
    """
    if (fields := _held()) and _asks_for_nothing():
        model = controls.current(ModelState)
        st.query_params.update({name: as_text(getattr(model, name)) for name in fields})


def named_in(states: Sequence[tuple[State, str]]) -> Collection[str]:
    """Which fields a link of these states must name with their defaults, as it would otherwise be empty."""
    is_empty = not any(link_parameters(state, prefix) for state, prefix in states)
    return _held() if is_empty else ()


def _held() -> list[str]:
    return [name for name in st.session_state.get(OPENS_WITH, ()) if name in held_by(ModelState)]


def _asks_for_nothing() -> bool:
    return not [name for name in st.query_params if name != PARAMETER]
