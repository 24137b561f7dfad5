"""Add to lecture: a button beside every question and every step, and a menu for a page as it is."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from tfm_ui.lessons import collect, draft, lecture
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.page import controls, frame
from tfm_ui.page.lens import Lens
from tfm_ui.page.present import presenting
from tfm_ui.page.questions import Question
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

LABEL, ICON = "Add to lecture", ":material/playlist_add:"
THIS_PAGE, OPEN = "Add this page as it is", "Open your lecture"
CUT = "The text is too long for a link, so the step shows its beginning."
GOES = "_lecture_goes"  # key of the session state: whether the visitor wants to see the lecture


def question(lens: Lens, now: Question) -> None:
    """Draw the button that adds a question; who presents collects nothing."""
    if not presenting():
        _button(partial(collect.of_question, lens, now), "this question")


def step(now: Step) -> None:
    """Draw the button that adds the step of a lesson."""
    _button(lambda: now, "this step")


def _button(make: Callable[[], Step], what: str) -> None:
    st.button(
        LABEL,
        icon=ICON,
        help=f"Adds {what} at the end of your lecture.",
        on_click=lecture.add,
        args=(make,),
        type="tertiary",
        key="_add_to_lecture",
    )
    say()


def all_steps(lesson: Lesson) -> None:
    """Add all steps of a lesson; an empty lecture becomes the lesson. Only to be called in a callback."""
    try:
        lecture.put(draft.added(lecture.now(), *lesson.steps) if lecture.now().steps else lesson)
    except ValueError as problem:
        st.session_state[lecture.SAID] = f"Not added: {problem}.", False
    else:
        said = f"Your lecture has {formats.plural(len(lecture.now().steps), 'step')} now."
        st.session_state[lecture.SAID] = said, True


def say() -> None:
    """Say what the last act did, once."""
    if said := st.session_state.pop(lecture.SAID, None):
        text, is_added = said
        st.toast(escape_markdown(text), icon=ICON if is_added else ":material/error:")


def menu(lens: Lens) -> None:
    """Draw the menu of the lecture: to add the page of this lens as it is, and to open the lecture."""
    model = frame.model()
    state = controls.current(lens.state, lens.prefix, lens.limits(model))
    steps = len(lecture.now().steps)
    key = "_lecture_menu"

    def chosen() -> None:
        if st.session_state[key] == OPEN:
            st.session_state[GOES] = True
        else:
            note = CUT if collect.is_cut(lens, model, state) else ""
            lecture.add(partial(collect.of_page, lens, model, state), note=note)
            st.rerun()  # the whole page: the menu stands in a fragment, and the browser is to keep the lecture

    st.menu_button(
        "Lecture",
        [THIS_PAGE, OPEN],
        format_func=lambda act: f"{act}, {formats.plural(steps, 'step')}" if act == OPEN else act,
        on_click=chosen,
        icon=ICON,
        help="A lecture of your own: questions, steps and pages in your order.",
        type="tertiary",
        key=key,
    )
    if st.session_state.pop(GOES, False):
        st.switch_page(frame.lecture_page(), query_params=controls.open_with())
    say()
