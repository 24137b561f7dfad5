"""Notices: what the app changed or could not do of what the reader asked for. They stay until they are dismissed."""

import streamlit as st

NOTICES = "_notices"  # a key of the session state; no parameter of a link starts with an underscore


def notices() -> list[str]:
    """All notices, in order."""
    texts: list[str] = st.session_state.get(NOTICES, [])
    return texts


def notify(notice: str) -> None:
    """Add a notice, unless the same one is there already."""
    if notice not in notices():
        st.session_state[NOTICES] = [*notices(), notice]


def dismiss() -> None:
    """Remove all notices."""
    st.session_state[NOTICES] = []
