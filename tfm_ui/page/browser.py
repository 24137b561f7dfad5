"""What only the browser can do for the page: its history, and keys that press buttons. Nothing is visible."""

from collections.abc import Mapping

import streamlit as st

from tfm_ui.pictures.canvas import LOADER, version

_history = st.components.v2.component("history", js=LOADER % (version(), "history"))
_keys = st.components.v2.component("keys", js=LOADER % (version(), "keys"))


def tidy_history(limit: int, *, address: str = "", whole: Mapping[str, str] | None = None) -> None:
    """Make each act of the reader one entry of the history, and no address longer than `limit`.

    assets/page/history.js does it.

    Args:
        limit: how many characters an address may have.
        address: "?" and the parameters, for the address bar, if Streamlit would write an address that is too long.
        whole: the beginning of a text, as the address holds it -> the whole text.
    """
    with st.container(key="unseen_history"):
        _history(key="history", data={"limit": limit, "address": address, "whole": dict(whole or {})})


def bind_keys(keys: Mapping[str, str]) -> None:
    """Let keyboard keys press buttons: name of the keyboard key in the browser -> Streamlit key of the button."""
    with st.container(key="unseen_keys"):
        _keys(key="keys", data={"keys": dict(keys)})
