"""What only the browser can do for the page: its history, keys that press buttons, and sliders that are live while they
are dragged. Nothing is visible."""

from collections.abc import Mapping, Sequence

import streamlit as st

from tfm_ui.pictures.canvas import LOADER, version

_history = st.components.v2.component("history", js=LOADER % (version(), "page/history"))
_keys = st.components.v2.component("keys", js=LOADER % (version(), "page/keys"))
_live_sliders = st.components.v2.component("live_sliders", js=LOADER % (version(), "pictures/live_sliders"))


def tidy_history(
    limit: int, *, quiet: Sequence[str] = (), address: str = "", whole: Mapping[str, str] | None = None
) -> None:
    """Make each act of the reader one entry of the history, and no address longer than `limit`.

    assets/page/history.js does it.

    Args:
        limit: how many characters an address may have.
        quiet: parameters that the server writes and whose changes alone make no entry.
        address: "?" and the parameters, for the address bar, if Streamlit would write an address that is too long.
        whole: the beginning of a text, as the address holds it -> the whole text.
    """
    with st.container(key="unseen_history"):
        data = {"limit": limit, "quiet": list(quiet), "address": address, "whole": dict(whole or {})}
        _history(key="history", data=data)


def bind_keys(keys: Mapping[str, str]) -> None:
    """Let keyboard keys press buttons: name of the keyboard key in the browser -> Streamlit key of the button."""
    with st.container(key="unseen_keys"):
        _keys(key="keys", data={"keys": dict(keys)})


def let_pictures_follow(sliders: Sequence[str]) -> None:
    """Let all pictures follow these sliders while they are dragged.

    Args:
        sliders: Streamlit's keys of sliders; each is a parameter of the link.
    """
    with st.container(key="unseen_live_sliders"):
        _live_sliders(key="live_sliders", data={"keys": list(sliders)})
