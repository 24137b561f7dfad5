"""The button of the search, at one place on all pages; its dialog is the browser's own (assets/search).

What is chosen comes from a browser, so it is opened only if the index has it.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version
from tfm_ui.search.index import WORD, Index

KEY, BOX = "search", "search_box"  # of the place on the page, and of what is in it
GOING = "_search_goes"  # key of the session state: kind and name of what was chosen, until a run leads there

PLACE = (ASSETS / "search/place.css").read_text(encoding="utf-8")

_component = st.components.v2.component(
    "search",
    html=(ASSETS / "search/search.html").read_text(encoding="utf-8"),
    css=(ASSETS / "search/search.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "search/search"),
)


def draw(index: Index) -> None:
    """Draw the button. Call it early in a run, so that the search is there while a page is computed.

    Args:
        index: what can be found.
    """
    with st.container(gap=None, key=KEY):
        st.html(f"<style>{PLACE}</style>")
        data = {"index": f"search/{index.version}.json"}
        _component(key=BOX, data=data, on_chosen_change=lambda: _choose(index))


def _choose(index: Index) -> None:
    """Note what was chosen, if there is such an entry: an act that comes in between must not lose it."""
    told = st.session_state.get(BOX)  # a page that has gone may have told it
    if wanted := _known(getattr(told, "chosen", None), index):
        st.session_state[GOING] = wanted


def _known(chosen: Any, index: Index) -> tuple[str, str] | None:
    """The kind and the name of an entry that leads somewhere; None of anything else, whatever a stranger sends."""
    if not isinstance(chosen, dict):
        return None
    kind, name = chosen.get("kind"), chosen.get("name")
    if not isinstance(kind, str) or not isinstance(name, str) or kind == WORD:
        return None
    return (kind, name) if name in index.names.get(kind, ()) else None


def follow(go: Callable[[str, str], None]) -> None:
    """Go to what was chosen, if anything was. Call it when the model's controls have been drawn.

    Args:
        go: opens an entry by its kind and name, `tfm_ui.search.way.go`.
    """
    if GOING in st.session_state:
        kind, name = st.session_state.pop(GOING)
        go(kind, name)
