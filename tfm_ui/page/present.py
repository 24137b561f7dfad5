"""Presenting to an audience: the picture has the screen, keys walk through questions; `present=true` in a link."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from tfm_ui.page import notices
from tfm_ui.state.fields import Flag
from tfm_ui.state.links import Correction

PARAMETER = "present"
TAKEN = "_taken"  # key of the session state: the number of the last step of the keys that was taken
NARROWEST = 900  # px, of a window that can present; in page.css, too


class Key(NamedTuple):
    """What a key does while presenting.

    It `walks` by questions or lenses, presses the first of the `button`s that is there, or `scrolls` a screen.
    """

    names: Sequence[str]
    about: str
    walks: tuple[str, int] | None = None
    button: str = ""
    scrolls: int = 0


TEXT = "t"
KEYS = (
    Key(("n", "PageDown", "ArrowRight"), "next question or step", ("question", 1)),
    Key(("b", "PageUp", "ArrowLeft"), "question or step before", ("question", -1)),
    Key(("l",), "next lens", ("lens", 1)),
    Key(("k",), "lens before", ("lens", -1)),
    Key(("a",), "prediction, then answer", button="_show_answer _answer"),
    Key(("s",), "set the question up", button="_set_up"),
    Key(("d",), "scroll down", scrolls=1),
    Key(("u",), "scroll up", scrolls=-1),
    Key((TEXT,), "edit the text"),
    Key(("/",), "search"),
    Key(("q",), "QR code of this page", button="_qr"),
    Key(("x", "Escape"), "stop presenting", button="_exit"),
)


def presenting() -> bool:
    """Whether the page is shown to an audience."""
    return st.query_params.get(PARAMETER) == "true"


def check_link() -> None:
    """Correct a bad value of the parameter in a link, as `controls.open_link` does for controls."""
    asked = st.query_params.get(PARAMETER)
    if asked not in (None, "true"):
        wanted, reason = Flag("Present").read(asked, False)
        if reason:
            notices.notify(str(Correction(PARAMETER, asked, wanted, reason)))
        if wanted:
            begin()
        else:
            end()


def begin() -> None:
    """Start presenting."""
    st.query_params[PARAMETER] = "true"


def end() -> None:
    """Stop presenting. The browser's Back may have done so already."""
    st.query_params.pop(PARAMETER, None)
