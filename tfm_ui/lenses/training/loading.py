"""Weights from a file: the reader loads what this app has written, and all lenses show it."""

import streamlit as st

from tfm_core import STORE
from tfm_core.training.files import NotARun
from tfm_core.training.weights_file import MOST_BYTES, from_file
from tfm_ui.lenses.training.dated import measured_on
from tfm_ui.page import controls
from tfm_ui.text import formats

FILE = "_training_file"


def draw() -> None:
    """The menu with the place for a file; what is wrong with one is said beside it."""
    with st.popover("Load weights", icon=":material/upload:", type="tertiary", key="_training_load"):
        st.file_uploader(
            "A file that “Weights and configuration” has written: .safetensors",
            max_upload_size=MOST_BYTES // 1_000_000,
            key=FILE,
            on_change=_load,
        )
        # Here, as the menu stays open and lies over the place where notices stand.
        if problem := st.session_state.get(f"{FILE}_problem"):
            st.warning(problem, icon=":material/error:")
        elif done := st.session_state.get(f"{FILE}_done"):
            st.success(done, icon=":material/check:")


def _load() -> None:
    """Keep what is in the file, and let all lenses show it."""
    st.session_state.pop(f"{FILE}_problem", None)
    st.session_state.pop(f"{FILE}_done", None)
    file = st.session_state[FILE]
    if file is None:
        return
    try:
        run = from_file(file.getvalue())
    except NotARun as problem:
        st.session_state[f"{FILE}_problem"] = f"{file.name[:60]}: {problem}."
        return
    STORE.keep(run)
    right = formats.percent(run.last.accuracy)
    count = formats.plural(measured_on(run, run.last), "held-out example")
    st.session_state[f"{FILE}_done"] = (
        f"These weights are in all other lenses now: {run.config.task}, loaded from {file.name[:60]}. Measured here, "
        f"{right} of the answers to {count} are right. Training goes on showing the run that its own controls name."
    )
    controls.change("", weights=run.config.name)
