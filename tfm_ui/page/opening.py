"""A lens that opens on a model of its own choice: the first visit shows it, and the address always says which it is."""

from collections.abc import Mapping

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.page.present import PARAMETER
from tfm_ui.state.links import as_text
from tfm_ui.state.model_state import ModelState

OPENS_WITH = "_opens_with"  # key of the session state: field of the model -> value, of the lens that is open


def begin(fields: Mapping[str, str]) -> None:
    """At the first visit, if the link asks for nothing, ask for this. Call it before the model's link is opened."""
    st.session_state[OPENS_WITH] = fields
    if controls.KNOWN not in st.session_state and not [name for name in st.query_params if name != PARAMETER]:
        st.query_params.update(fields)


def name_fields() -> None:
    """Write these fields into the address also where they have their defaults: without them it would mean `begin`."""
    model = controls.current(ModelState)
    for name in st.session_state[OPENS_WITH]:
        if name not in st.query_params:
            st.query_params[name] = as_text(getattr(model, name))
