"""The uploader of masks, and why a file was not taken: what a session alone knows."""

import streamlit as st

from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.mask_text import BYTES
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.visitor import runs_a_script, visitor_here

UPLOAD, PROBLEM = "_masks_upload", "_masks_upload_problem"


def uploader() -> None:
    """Draw the box that takes a file."""
    st.file_uploader(
        "Or upload one: .npy, .npz, .csv, .txt",
        max_upload_size=BYTES // 2**20,
        key=UPLOAD,
        on_change=_file_changed,
    )


def rejected(state: MasksState) -> str:
    """What is wrong with the file that stands in the uploader; "" if nothing, or if something else was tried since."""
    if not runs_a_script():
        return ""
    problem, pasted = st.session_state.get(PROBLEM, ("", None))
    return problem if pasted == state.pasted else ""


def _file_changed() -> None:
    """A file was chosen, or taken back: its text or array is read now, and kept if it is a mask."""
    file = st.session_state[UPLOAD]
    st.session_state.pop(PROBLEM, None)
    if file is None:
        controls.change(PREFIX, upload="")
        return
    data = file.getvalue()
    visitor = visitor_here()
    name = uploads.name_of(data, visitor)
    try:
        uploads.keep(name, visitor, read_file(data))
    except (ValueError, StoreAway) as problem:
        state = controls.current(MasksState, PREFIX)
        st.session_state[PROBLEM] = f"{file.name[:60]}: {problem}", state.pasted
        controls.change(PREFIX, upload="")  # the uploader no longer holds the file that was uploaded before
        return
    controls.change(PREFIX, upload=name, pasted="")
