"""The reader's own text and weights, which give way to those that a question brings, and come back on request."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.state.model_state import ModelState

# Keys of the session state: the model's values when some of the reader's gave way, and which these were; what the last
# question brought.
MINE, GAVE_WAY, BROUGHT = "_mine_of_the_model", "_gave_way", "_brought"
OWN = {"text": "text", "target": "target text", "weights": "weights"}  # field -> what it is called in a sentence


def keep(bringing: Mapping[str, Any]) -> None:
    """Keep what is the reader's own before a question brings these values. Only to be called in a callback."""
    model = controls.current(ModelState)
    now, last = asdict(model), st.session_state.get(BROUGHT) or asdict(ModelState())
    if mine := [name for name in _read(model) if now[name] not in (bringing[name], last[name])]:
        st.session_state[MINE], st.session_state[GAVE_WAY] = now, mine
    st.session_state[BROUGHT] = {name: bringing[name] for name in OWN}


def given_way(model: ModelState) -> str:
    """What of the reader's has given way to what is on screen, as a question brought it: "text", "text and weights"."""
    mine, brought, now = st.session_state.get(MINE), st.session_state.get(BROUGHT, {}), asdict(model)
    if not mine or any(now[name] != brought[name] for name in _read(model)):
        return ""
    return " and ".join(OWN[name] for name in st.session_state[GAVE_WAY] if mine[name] != now[name])


def come_back() -> None:
    """Bring the reader's model back. Only to be called in a callback."""
    controls.set_parameters(ModelState(**st.session_state[MINE]).chosen())
    st.rerun()  # the whole page: another model changes everything


def _read(model: ModelState) -> Sequence[str]:
    """The fields that the model reads; of a text that its weights fix, the reader has none."""
    return [name for name in OWN if (name != "target" or model.is_encoder_decoder) and name not in model.fixed]
