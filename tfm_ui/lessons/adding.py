"""Add to lecture: a button beside every question and every step, and a menu for a page as it is."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lessons import collect, draft, lecture
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.page import controls, frame
from tfm_ui.page.lens import Lens
from tfm_ui.page.present import presenting
from tfm_ui.page.questions import Question
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LABEL, ICON = "Add to lecture", ":material/playlist_add:"
THIS_PAGE, OPEN = ACTS = ("Add this page as it is", "Open your lecture")
CUT = "The text is too long for a link, so the step shows its beginning."
GOES = "_lecture_goes"  # key of the session state: whether the visitor wants to see the lecture


def question(lens: Lens, now: Question) -> None:
    """Draw the button that adds what is asked, with the visitor's settings; who presents collects nothing.

    Where the question asks about other settings than those on screen, it adds the page as it is.
    """
    if not presenting():
        model, state = _on_screen(lens)
        is_asked = now.is_true(model, state)
        make = partial(collect.of_question, lens, now, model, state) if is_asked else _page(lens, model, state)
        _button(make, "this question, with your settings," if is_asked else "this page, as it is,")


def step(now: Step) -> None:
    """Draw the button that adds the step of a lesson."""
    _button(lambda: now, "this step")


def _button(make: Callable[[], Step], what: str) -> None:
    st.button(
        LABEL,
        icon=ICON,
        help=f"Adds {what} to your lecture.",
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


def _on_screen(lens: Lens) -> tuple[ModelState, LensState]:
    model = frame.model()
    return model, controls.current(lens.state, lens.prefix, lens.limits(model))


def _page(lens: Lens, model: ModelState, state: LensState) -> Callable[[], Step]:
    return partial(collect.of_page, lens, model, state)


def say() -> None:
    """Say what the last act did, once."""
    if said := st.session_state.pop(lecture.SAID, None):
        text, is_added = said
        sign = "✓" if is_added else "⚠"
        st.html(f'<p class="added" role="status">{sign} {escape(text)}</p>')


def menu(lens: Lens) -> None:
    """Draw the menu of the lecture: to add the page of this lens as it is, and to open the lecture."""
    key = "_lecture_menu"

    def chosen() -> None:
        if st.session_state[key] == OPEN:
            st.session_state[GOES] = True
        else:
            model, state = _on_screen(lens)
            lecture.add(_page(lens, model, state), note=CUT if collect.is_cut(lens, model, state) else "")
            st.rerun()  # the whole page: the menu stands in a fragment, and the browser is to keep the lecture

    st.menu_button(
        "Lecture",
        ACTS,
        on_click=chosen,
        icon=ICON,
        type="tertiary",
        key=key,
    )
    if st.session_state.pop(GOES, False):
        st.switch_page(frame.lecture_page(), query_params=controls.open_with())
    say()
