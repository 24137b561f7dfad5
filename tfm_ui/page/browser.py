"""What only the browser can do for the frame: its history, and keys that press buttons. Nothing of it is seen."""

from collections.abc import Mapping

import streamlit as st

from tfm_ui.pictures.canvas import LOADER, version

_history = st.components.v2.component("history", js=LOADER % (version(), "history"))
_keys = st.components.v2.component("keys", js=LOADER % (version(), "keys"))


def mend_history(limit: int, *, address: str = "", whole: Mapping[str, str] | None = None) -> None:
    """One act, one entry of the history; no address longer than `limit`; assets/page/history.js says how.

    Args:
        limit: characters that an address may have.
        address: "?" and what stands behind it, where Streamlit would write too long a text.
        whole: what the address holds of a text -> the whole text, to come back to.
    """
    with st.container(key="unseen_history"):
        _history(key="history", data={"limit": limit, "address": address, "whole": dict(whole or {})})


def keys_press(keys: Mapping[str, str]) -> None:
    """Let keys, by their names in the browser, press the buttons with these Streamlit keys."""
    with st.container(key="unseen_keys"):
        _keys(key="keys", data={"keys": dict(keys)})
