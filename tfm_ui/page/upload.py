"""A file that a visitor brings: the box that takes it, who can see what is in it, and its reading in a turn.

What is in a file is read once, by the callback of its box: a page that is drawn later finds it by the name in the link.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.typing import UploadedFile

from tfm_core.training.files import as_text
from tfm_ui.visitors.compute_limiter import Busy
from tfm_ui.visitors.turn import turn_to_compute

MANY = 1_000_000  # bytes of a file whose reading takes long
SEEN_BY = (
    "Whoever has the link of this page sees {what}, as long as this server keeps the file. Its name, which the link "
    "holds, cannot be guessed."
)


def draw(label: str, *, key: str, most: int, read: Callable[[], None], what: str) -> None:
    """Draw the box, and what a visitor should know before giving a file away.

    Args:
        label: what is taken.
        key: of the box.
        most: megabytes of a file.
        read: the callback, which finds the file in the session's state under the key.
        what: of the file others see, as in a sentence.
    """
    file = st.file_uploader(label, max_upload_size=most, key=key, on_change=read)
    if file and st.session_state.get(_busy(key)):
        st.button("Try again", on_click=read, icon=":material/refresh:", key=f"{key}_again")
    st.caption(SEEN_BY.format(what=what))


@contextmanager
def in_turn(key: str, file: UploadedFile | None) -> Iterator[None]:
    """Let the block read a file in the visitor's turn. The box keeps the file, so that it can be tried again.

    Args:
        key: of the box.
        file: what it holds; None if nothing.

    Raises:
        ValueError: if the server is busy, in a sentence.
    """
    st.session_state[_busy(key)] = False
    try:
        with turn_to_compute(heavy=file is not None and file.size > MANY):
            yield
    except Busy as busy:
        st.session_state[_busy(key)] = True
        raise ValueError(str(busy)) from busy


def name_of(file: UploadedFile) -> str:
    """The file's name as it may stand in a sentence: short, and without invisible characters."""
    return as_text(file.name)


def _busy(key: str) -> str:
    return f"{key}_busy"
