"""Pictures and words that follow the controls by themselves between two runs of a page, if they can."""

from collections.abc import Sequence

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.page.components import LOADER
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.spoken import Spoken
from tfm_ui.page.words import has_slow
from tfm_ui.pictures.canvas import version
from tfm_ui.pictures.panel import Panel
from tfm_ui.pictures.registry import States
from tfm_ui.streamlit_private.script_run import session_here
from tfm_ui.visitors.rest import PICTURES_FOLLOW

_words = st.components.v2.component(
    "words",
    html='<p role="status"></p>',
    css=(ASSETS / "page/words.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "pictures/words"),
)


def let_words_follow(names: Sequence[str], panels: Sequence[Panel], states: States, spoken: Spoken) -> None:
    """Let what the page says follow its controls, and note whether presses in a row may wait for their end.

    Args:
        names: by which the browser asks for what the page says, for the answer of its question, and for slow words.
        panels: all panels of the page.
        states: the states that the page shows.
        spoken: what the page says.
    """
    drawings = [Drawing(panel.picture_name, states, slow=panel.slow) for panel in panels if panel.picture_name]
    follows = bool(drawings) and all(drawing.early for drawing in drawings)
    if session := session_here():
        PICTURES_FOLLOW[session] = follows
    *ticked, slow = names
    said = spoken.plain(f"said_{panels[0].key}", panels[0].sentence) if panels else ""
    query = Drawing("", states).query
    with st.container(key="unseen_words"):
        data = {"names": ticked if follows else [], "slow": slow if has_slow(panels) else "", "query": query}
        _words(key="words", data=data | {"said": said})


def nothing_follows() -> None:
    """Note that this page shows no picture: each act runs it."""
    if session := session_here():
        PICTURES_FOLLOW[session] = False
