"""The lecture that a visitor puts together: the session has it, and the visitor's browser keeps it.

Of what two tabs know, the later change counts: assets/lessons/lecture.js.
"""

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from tfm_ui.lessons import draft
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.reader import MOST_BYTES, FaultyLesson, read
from tfm_ui.lessons.writer import written
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version

# Keys of the session state: the lecture, when it was changed last, in milliseconds, what is said of the last act, and
# what the lecture was before the last acts.
LECTURE, CHANGED, SAID, BEFORE = "_lecture", "_lecture_changed", "_lecture_said", "_lecture_before"
MOST_BEFORE = 20  # acts that can be undone
KEY = "lesson_lecture"
AHEAD = 86_400_000  # milliseconds that a browser's clock may be ahead: what is later is not a time of a change

_browser = st.components.v2.component("lesson_lecture", js=LOADER % (version(), "lessons/lecture"))


def now() -> Lesson:
    """The lecture as it is."""
    lecture: Lesson = st.session_state.get(LECTURE, draft.EMPTY)
    return lecture


def put(lecture: Lesson) -> None:
    """Let this be the lecture from now on."""
    st.session_state[BEFORE] = [*before(), now()][-MOST_BEFORE:]
    _set(lecture)


def before() -> list[Lesson]:
    """What the lecture was before the last acts, the last one at the end."""
    lectures: list[Lesson] = st.session_state.get(BEFORE, [])
    return lectures


def undo() -> None:
    """Take the last act back. Only to be called in a callback."""
    if lectures := before():
        st.session_state[BEFORE] = lectures[:-1]
        _set(lectures[-1])


def _set(lecture: Lesson) -> None:
    st.session_state[LECTURE] = lecture
    st.session_state[CHANGED] = max(int(time.time() * 1000), st.session_state.get(CHANGED, 0) + 1)


def add(make: Callable[[], Step], *, note: str = "") -> None:
    """Add a step at the end of the lecture, and say so. Only to be called in a callback.

    Args:
        make: makes the step.
        note: what else is to be said.
    """
    step = make()
    try:
        put(draft.added(now(), step))
    except ValueError as problem:
        st.session_state[SAID] = f"Not added: {problem}.", False
    else:
        said = f"“{step.heading}” is step {len(now().steps)} of your lecture."
        st.session_state[SAID] = f"{said} {note}".strip(), True


def exchange() -> None:
    """Let the browser keep the lecture, and hear from it what it has kept. Call it once in a run of a page."""
    lecture = now()
    text = written(lecture) if lecture.steps else ""
    with st.container(key="unseen_lecture"):
        _browser(key=KEY, data={"text": text, "changed": st.session_state.get(CHANGED, 0)}, on_told_change=_hear)


def _hear() -> None:
    told = st.session_state[KEY].told
    text, changed = (told.get("text"), told.get("changed")) if isinstance(told, dict) else (None, None)
    if _is_later(changed) and (lecture := _lecture(text)):
        st.session_state[LECTURE], st.session_state[CHANGED] = lecture, changed


def _is_later(changed: Any) -> bool:
    is_time = isinstance(changed, int) and not isinstance(changed, bool)
    return is_time and st.session_state.get(CHANGED, 0) < changed < time.time() * 1000 + AHEAD


def _lecture(text: Any) -> Lesson | None:
    """The lecture that a browser tells, who may tell anything; None if it is none."""
    if text == "":
        return draft.EMPTY
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        return None
    try:
        return read(text)
    except (FaultyLesson, UnicodeError):
        return None
