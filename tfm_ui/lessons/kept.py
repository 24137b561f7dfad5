"""A learner's progress on a page: the browser keeps it and tells it, the session has it meanwhile."""

import streamlit as st

from tfm_ui.lessons import progress
from tfm_ui.lessons.progress import Progress
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version

# Keys of the session state: the progress as far as this session knows; how often the learner has had it forgotten.
PROGRESS, FORGOTTEN = "_progress", "_progress_forgotten"
KEY = "lesson_progress"

_browser = st.components.v2.component("lesson_progress", js=LOADER % (version(), "lessons/progress"))


def now() -> Progress:
    """The progress, as far as this session knows."""
    known: Progress = st.session_state.get(PROGRESS, {})
    return known


def note(lesson: str, step: str, **known: object) -> None:
    """Note that a step was seen, and what is known of it."""
    st.session_state[PROGRESS] = progress.noted(now(), lesson, step, **known)


def bring_back(exported: Progress) -> None:
    """Put progress of a file together with what is known; what is known counts. Only to be called in a callback."""
    st.session_state[PROGRESS] = progress.merged(exported, now())


def forget() -> None:
    """Forget all of it, here and in the browser. Only to be called in a callback."""
    st.session_state[PROGRESS] = {}
    st.session_state[FORGOTTEN] = st.session_state.get(FORGOTTEN, 0) + 1


def exchange() -> None:
    """Let the browser keep what is known, and hear from it what it has kept. Call it once in a run of a page."""
    with st.container(key="unseen_progress"):
        data = {"progress": now(), "forgotten": st.session_state.get(FORGOTTEN, 0)}
        _browser(key=KEY, data=data, on_told_change=_hear)


def _hear() -> None:
    told = st.session_state[KEY].told
    known = progress.read(told.get("progress")) if isinstance(told, dict) else {}
    is_anew = isinstance(told, dict) and told.get("anew") is True  # another tab has had it forgotten
    st.session_state[PROGRESS] = known if is_anew else progress.merged(known, now())
