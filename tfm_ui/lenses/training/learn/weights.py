"""Weights to take along: in all lenses, and as a file; and those from a file that this app has written."""

from functools import partial

import streamlit as st

from tfm_core import run_store
from tfm_core.training.run import Run
from tfm_core.training.weights_file import MOST_BYTES, as_file, from_file
from tfm_ui.page import controls, upload
from tfm_ui.pictures.learn.told import measured_on
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import network_here

FILE = "_training_file"


def draw(run: Run) -> None:
    """Draw the menu that loads a file, and where a run is complete, buttons that hand on its weights."""
    with st.container(horizontal=True, gap="small", key="training_tools"):
        _draw_loading()
        if not run.is_complete or run.config.network != "transformer" or run.config.about.classes:
            return
        st.button(
            f"Show the weights of step {formats.count(run.done or run.config.steps)} in all lenses",
            help="Of a run, the weights of its last step are kept; of the other steps on the slider, what its heads "
            "looked at and what it said.",
            on_click=controls.change,
            args=("",),
            kwargs={"weights": run.config.name},
            icon=":material/visibility:",
            type="tertiary",
            key="_training_use",
        )
        st.download_button(
            "Weights and configuration",
            partial(as_file, run),
            f"{run.config.task}.safetensors",
            "application/octet-stream",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
            key="_training_weights",
        )


def _draw_loading() -> None:
    """Draw the menu with the place for a file; what is wrong with one is said beside it."""
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
    run_store().keep(run, owner=network_here())
    right = formats.percent(run.last.accuracy)
    count = formats.plural(measured_on(run, run.last), "held-out example")
    st.session_state[f"{FILE}_done"] = (
        f"These weights are in all other lenses now: {run.config.task}, loaded from {name}. Measured here, "
        f"{right} of the answers to {count} are right. Training goes on showing the run that its own controls name."
        f"{run_store().problem and f' {run_store().problem}'}"
    )
    controls.change("", weights=run.config.name)
