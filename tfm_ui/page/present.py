"""Presenting to an audience: the picture has the screen, keys walk through questions; `present=true` in a link."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from tfm_ui.page import controls, notices, question_row
from tfm_ui.page.browser import presenting_keys
from tfm_ui.page.lens import Lens
from tfm_ui.state.fields import Flag
from tfm_ui.state.links import Correction

PARAMETER = "present"
WALKED = "_walked"  # key of the session state: the steps that were taken, of those that the browser has counted


class Key(NamedTuple):
    """What a key does while presenting; `walks` through this by so many, or presses `button`, or `scrolls` a screen."""

    names: Sequence[str]
    about: str
    walks: tuple[str, int] | None = None
    button: str = ""
    scrolls: int = 0


TEXT = "t"
KEYS = (
    Key(("n", "PageDown", "ArrowRight"), "next question", ("question", 1)),
    Key(("b", "PageUp", "ArrowLeft"), "question before", ("question", -1)),
    Key(("l",), "next lens", ("lens", 1)),
    Key(("k",), "lens before", ("lens", -1)),
    Key(("a",), "answer", button="_answer"),
    Key(("s",), "back to the question’s set-up", button="_set_up"),
    Key(("d",), "scroll down", scrolls=1),
    Key(("u",), "scroll up", scrolls=-1),
    Key((TEXT,), "edit the text"),
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
    """Stop presenting."""
    del st.query_params[PARAMETER]


def bar(lenses: Sequence[Lens], lens: Lens) -> None:
    """Draw the slim bar: lens before, which lens this is, next lens, the text, the keys, exit; and act on keys."""
    at = [other.name for other in lenses].index(lens.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False, key="present_bar"):
        for step, label, key in ((-1, "‹", "_previous_lens"), (1, "›", "_next_lens")):
            other = lenses[at + step] if 0 <= at + step < len(lenses) else None
            about = f"Lens {'before' if step < 0 else 'after'} this: {other.title}" if other else None
            if st.button(label, help=about, disabled=other is None, key=key, type="tertiary") and other:
                _open(other)
            if step < 0:
                where = f'<p class="where"><b>{escape(lens.title)}</b> {at + 1} of {len(lenses)}</p>'
                st.html(where, width="content")
        walked = presenting_keys(
            {name: key.walks for key in KEYS for name in key.names if key.walks},
            {name: key.button for key in KEYS for name in key.names if key.button},
            {name: key.scrolls for key in KEYS for name in key.names if key.scrolls},
            TEXT,
        )
        with st.popover("Keys", type="tertiary", key="_keys"):
            st.html("<dl>" + "".join(f"<dt>{_named(key)}</dt><dd>{key.about}</dd>" for key in KEYS) + "</dl>")
        st.button("Exit", on_click=end, icon=":material/close:", type="tertiary", key="_exit", help="Key: x")
    _walk(lenses, at, walked)


def _named(key: Key) -> str:
    names = {"PageDown": "Page down", "PageUp": "Page up", "ArrowRight": "→", "ArrowLeft": "←"}
    return ", ".join(f"<kbd>{names.get(name, name)}</kbd>" for name in key.names)


def _walk(lenses: Sequence[Lens], at: int, walked: dict[str, int]) -> None:
    """Take the steps that the browser has counted since the last run."""
    done = st.session_state.get(WALKED, {})
    steps = {what: count - done.get(what, 0) for what, count in walked.items()}
    st.session_state[WALKED] = walked
    if lens_steps := steps.get("lens", 0):
        other = lenses[min(max(at + lens_steps, 0), len(lenses) - 1)]
        if other is not lenses[at]:
            _open(other)
    if steps.get("question", 0):
        if question_row.walk(lenses[at], steps["question"]):
            st.rerun()
        forwards = steps["question"] > 0
        if 0 <= at + (1 if forwards else -1) < len(lenses):
            _open(lenses[at + (1 if forwards else -1)], 0 if forwards else -1)


def _open(lens: Lens, number: int = 0) -> None:
    """Go to a lens, which then asks this one of its questions. The model stays: it may hold the audience's own text."""
    set_up = question_row.set_up_of(lens, lens.questions[number])
    said = controls.worth_saying(lens.state, lens.prefix, set_up)
    st.switch_page(lens.page(), query_params=controls.open_with(**said))
