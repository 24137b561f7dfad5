"""The uploader of masks, and why a file was not taken: what a session alone knows."""

import streamlit as st

from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.mask_text import BYTES
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, upload
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.script_run import runs_a_script
from tfm_ui.visitors.visitor import visitor_here

UPLOAD, PROBLEM = "_masks_upload", "_masks_upload_problem"


def uploader() -> None:
    """Draw the box that takes a file."""
    upload.draw(
        "Or upload one: .npy, .npz, .csv, .txt",
        key=UPLOAD,
        most=BYTES // 2**20,
        read=_file_changed,
        what="the uploaded mask",
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
        with upload.in_turn(UPLOAD, file):
            uploads.keep(name, visitor, read_file(data))
    except (ValueError, StoreAway) as problem:
        state = controls.current(MasksState, PREFIX)
        st.session_state[PROBLEM] = f"{upload.name_of(file)}: {problem}", state.pasted
        controls.change(PREFIX, upload="")  # the uploader no longer holds the file that was uploaded before
        return
    controls.change(PREFIX, upload=name, pasted="")
