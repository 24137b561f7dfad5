"""Weights from a file: the reader loads what this app has written, and all lenses show it."""

import streamlit as st

from tfm_core import STORE
from tfm_core.training.weights_file import MOST_BYTES, from_file
from tfm_ui.lenses.training.dated import measured_on
from tfm_ui.page import controls, upload
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import network_here

FILE = "_training_file"


def draw() -> None:
    """The menu with the place for a file; what is wrong with one is said beside it."""
    with st.popover("Load weights", icon=":material/upload:", type="tertiary", key="_training_load"):
        upload.draw(
            "A file that “Weights and configuration” has written: .safetensors",
            key=FILE,
            most=MOST_BYTES // 1_000_000,
            read=_load,
            what="these weights",
        )
        # Here, as the menu stays open and lies over the place where notices stand.
        if problem := st.session_state.get(f"{FILE}_problem"):
            st.warning(escape_markdown(problem), icon=":material/error:")
        elif done := st.session_state.get(f"{FILE}_done"):
            st.success(escape_markdown(done), icon=":material/check:")


def _load() -> None:
    """Keep what is in the file, and let all lenses show it."""
    st.session_state.pop(f"{FILE}_problem", None)
    st.session_state.pop(f"{FILE}_done", None)
    file = st.session_state[FILE]
    if file is None:
        return
    name = upload.name_of(file)
    try:
        with upload.in_turn(FILE, file):
            run = from_file(file.getvalue())
    except ValueError as problem:
        st.session_state[f"{FILE}_problem"] = f"{name}: {str(problem).removesuffix('.')}."
        return
    STORE.keep(run, owner=network_here())
    right = formats.percent(run.last.accuracy)
    count = formats.plural(measured_on(run, run.last), "held-out example")
    st.session_state[f"{FILE}_done"] = (
        f"These weights are in all other lenses now: {run.config.task}, loaded from {name}. Measured here, "
        f"{right} of the answers to {count} are right. Training goes on showing the run that its own controls name."
        f"{STORE.problem and f' {STORE.problem}'}"
    )
    controls.change("", weights=run.config.name)
