"""What was changed of what the reader asked for, or could not be done: told once, until it is dismissed."""

import streamlit as st

NOTICES = "_notices"  # a key of the session; no parameter of a link starts with an underscore


def notices() -> list[str]:
    """All of them, in order."""
    texts: list[str] = st.session_state.get(NOTICES, [])
    return texts


def notify(notice: str) -> None:
    """Tell the reader, once."""
    if notice not in notices():
        st.session_state[NOTICES] = [*notices(), notice]


def dismiss() -> None:
    """Forget them: the reader has seen them."""
    st.session_state[NOTICES] = []
