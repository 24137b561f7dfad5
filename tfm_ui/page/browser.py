"""What only the browser can do for the page: its history, and keys that press buttons. Nothing is visible."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version

_history = st.components.v2.component("history", js=LOADER % (version(), "page/history"))
_presenting = st.components.v2.component(
    "presenting",
    html='<button type="button" class="text" title="Edit the text (key: t)"><span>Text</span></button>',
    css=(ASSETS / "page/copy_link.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "page/presenting"),
)
_window = st.components.v2.component("window", js=LOADER % (version(), "page/window"))


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


def presenting_keys(
    steps: Mapping[str, tuple[str, int]],
    buttons: Mapping[str, str],
    scrolls: Mapping[str, int],
    text: str,
    questions: Mapping[str, int],
    taken: int,
) -> dict[str, Any]:
    """Let keys of the keyboard walk, press buttons, scroll, and open the text; draws the button that opens the text.

    Args:
        steps: the key's name in the browser -> what it walks through, and how far.
        buttons: the key's name -> Streamlit's key of the button that it presses.
        scrolls: the key's name -> how many screens it scrolls down.
        text: the key that opens the text.
        questions: the lens's name -> the number of its questions, in the order in which the keys walk.
        taken: the number of the last step that was taken.

    Returns:
        "lens" and "number", the question that the keys have asked for last, "sets_up", whether they walked through
        questions, not through lenses, and "step", which counts the steps; empty if they asked for none on this page.
    """
    data = {
        "steps": dict(steps),
        "buttons": dict(buttons),
        "scrolls": dict(scrolls),
        "text": text,
        "questions": dict(questions),
        "taken": taken,
    }
    target = _presenting(key="presenting", data=data, on_target_change=lambda: None).target
    return dict(target or {})


def mind_the_window() -> None:
    """Fold the sidebar in windows that are too narrow for it, and apply a text when a phone's keyboard closes."""
    with st.container(key="unseen_window"):
        _window(key="window")
