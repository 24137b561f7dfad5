"""The select box of the weights. What the reader had chosen for the random model is kept while others are shown."""

from collections.abc import Collection

import streamlit as st

from tfm_core.model.trained import RANDOM
from tfm_ui.page import array_upload, bring_model, controls, unbound
from tfm_ui.state import arrays
from tfm_ui.state.fields import controls_of, held_by
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pretrained import KNOWN, known
from tfm_ui.state.trained import offered
from tfm_ui.streamlit_private.containers import DeltaGenerator

KEY = "weights"
BRING, OPEN = "@file", "_bring_open"  # the option that opens the boxes for files; whether they are open


def draw(where: DeltaGenerator) -> None:
    """Draw the box: random, pretrained models, the runs that ship with the app, the present one, and what opens files.

    The widget is not bound to the address, because what it offers is no fixed list.
    """
    field, _ = controls_of(ModelState)[KEY]
    now = controls.current(ModelState).weights
    names = list(dict.fromkeys([RANDOM, *KNOWN, *offered(), now, BRING]))
    key = unbound.key_of(KEY, now)
    where.selectbox(
        field.label,
        names,
        names.index(now),
        format_func=named,
        help=getattr(field, "help", None),
        key=key,
        on_change=_changed,
        args=(key,),
    )
    array_upload.draw_sentence(where)
    if st.session_state.get(OPEN):
        with where.container(border=True, key="bring"):
            bring_model.draw()
            array_upload.draw(st.container())
            st.button("Close", icon=":material/close:", on_click=_close, type="tertiary", key="_bring_close")


def named(weights: str) -> str:
    """Weights in words."""
    if weights == BRING:
        return "From a file or folder …"
    if arrays.is_name(weights):
        return "attention weights from a file"
    if pretrained := known(weights):
        return pretrained.called
    return RANDOM if weights == RANDOM else f"trained on {weights}"


def _changed(key: str) -> None:
    chosen = unbound.moved_to(KEY, key)
    if chosen == BRING:
        st.session_state[OPEN] = True
        st.session_state[key] = controls.current(ModelState).weights  # the box goes on naming what is on screen
    elif chosen:
        controls.set_parameters({KEY: chosen})


def _close() -> None:
    st.session_state.pop(OPEN, None)


def keep(drawn: Collection[str]) -> None:
    """Keep the values of the model's controls that are not drawn now: Streamlit forgets what has no widget."""
    for name in controls_of(ModelState).keys() - held_by(ModelState) - set(drawn):
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]
