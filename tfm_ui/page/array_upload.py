"""The box for attention weights that a visitor has computed elsewhere, and the choice of a sentence of their batch.

A file is read once, by the callback of its box, and kept under a name that nobody can guess (state/array_files.py).
"""

import streamlit as st

from tfm_core.study.attention_arrays import read_attention
from tfm_core.study.attention_files import MOST_BYTES
from tfm_ui.page import controls, unbound, upload
from tfm_ui.settings import SETTINGS
from tfm_ui.state import array_files, arrays
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import visitor_here

UPLOAD, TOKENS, PROBLEM = "_array_upload", "_array_tokens", "_array_problem"  # what a session alone knows
ITEM = "array_item"  # no parameter of a link: the name of the weights says which sentence is shown
LABEL = "Attention weights: .npy, .npz, .safetensors or .json, of up to (layer, batch, head, query, key)"
ABOUT_TOKENS = "One for each key of the file. Without any, those in the file count, or else tokens have numbers."
SEEN = "the attention weights, their tokens and the file’s name"


def draw(where: DeltaGenerator) -> None:
    """Draw the box for a file and the one for its tokens, and what is wrong with them."""
    with where:
        upload.draw(
            LABEL,
            key=UPLOAD,
            most=max(1, min(MOST_BYTES, SETTINGS.file_bytes_per_tab) // 2**20),
            read=_changed,
            what=SEEN,
        )
        if problem := st.session_state.get(PROBLEM):
            st.error(escape_markdown(problem), icon=":material/error:")
        st.text_input("Tokens, separated by spaces", key=TOKENS, on_change=_changed, help=ABOUT_TOKENS)


def draw_sentence(where: DeltaGenerator) -> None:
    """Draw the choice of a sentence, if what is on screen is a file with a batch; nothing otherwise."""
    array = controls.current(ModelState).array
    if not array or array.batch == 1:
        return
    key = unbound.key_of(ITEM, array.item + 1)
    label, about = "Sentence of the batch", f"The file holds {array.batch:,}."
    where.number_input(
        label, 1, array.batch, array.item + 1, help=about, key=key, on_change=_moved, args=(array.key, key)
    )


def _moved(file: str, key: str) -> None:
    """Another sentence was chosen."""
    if chosen := unbound.moved_to(ITEM, key):
        controls.set_parameters({"weights": arrays.name_of(file, chosen - 1)})


def _changed() -> None:
    """A file was chosen or taken back, or tokens were typed. What is on screen stays where nothing can be read."""
    file = st.session_state.get(UPLOAD)
    st.session_state.pop(PROBLEM, None)
    if file is None:
        return
    typed = (st.session_state.get(TOKENS) or "").split()
    try:
        with upload.in_turn(UPLOAD, file):
            name = array_files.keep(read_attention(file.getvalue(), file.name), file.name, visitor_here(), typed)
    except (ValueError, StoreAway) as problem:
        st.session_state[PROBLEM] = f"{upload.name_of(file)}: {problem}"
        return
    controls.set_parameters({"weights": name})
