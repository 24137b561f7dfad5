"""The speaker's page: notes to the step that is presented, what comes next, and the clock. It follows the projector."""

import time
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.lessons import talk
from tfm_ui.lessons.draft import MINUTES
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, shown
from tfm_ui.page import frame, share
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version
from tfm_ui.store.store import StoreAway
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.compute_limiter import Busy
from tfm_ui.visitors.turn import turn_to_compute

EVERY = 1.5  # seconds after which the page looks where the speaker is
# Keys of the session state: whether the dialog with the link is to be opened; link of a step -> its answer.
OPENS, ANSWERS = "_speaker_opens", "_speaker_answers"
WAITS = "Nothing is presented yet. Press “Present” in the window that the hall sees: then this page follows it."
AWAY = "This server cannot tell now where you are. This page goes on asking."
NO_NOTES = "No notes to this step."
READS = "Whoever has this link reads your notes. Scan it before the hall sees your screen."

_clock = st.components.v2.component(
    "lesson_clock",
    html='<p class="clock"></p>',
    css=(ASSETS / "lessons/clock.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "lessons/clock"),
)


class Clock(NamedTuple):
    """What the clock of a step compares, in minutes.

    Attributes:
        before: planned for all steps before it.
        step: planned for it.
        lecture: planned for the whole lecture.
    """

    before: int
    step: int
    lecture: int


def planned(lesson: Lesson, at: int) -> Clock:
    """The minutes that are planned before a step, for it, and for the whole lecture."""
    minutes = [step.minutes or MINUTES for step in lesson.steps]
    return Clock(sum(minutes[:at]), minutes[at], sum(minutes))


def button(*, key: str = "_speaker") -> None:
    """Draw the button that shows the link of the speaker's page."""
    st.button(
        "Speaker’s view",
        icon=":material/speaker_notes:",
        help="Your notes, the next step and a clock, in a second window or on your phone.",
        on_click=lambda: st.session_state.update({OPENS: True}),
        type="tertiary",
        key=key,
    )
    if st.session_state.pop(OPENS, False):
        _dialog()


@st.dialog("Speaker’s view", width="large")
def _dialog() -> None:
    link = f"{frame.app_address()}/{frame.SPEAKER}?{talk.PARAMETER}={talk.name()}"
    st.caption(READS)
    st.link_button("Open it in a second window", link, icon=":material/open_in_new:")
    st.html(f'<div class="qr beside">{share.qr_code(link)}</div>')
    st.code(link, language=None, wrap_lines=True)


def show(lens_of: LensOf) -> None:
    """Draw the page, which looks again every few moments.

    Args:
        lens_of: the app's lenses.
    """
    with st.container(key="speaker"):
        _follow(lens_of)


@st.fragment(run_every=EVERY)
def _follow(lens_of: LensOf) -> None:
    try:
        here = talk.find(st.query_params.get(talk.PARAMETER, ""))
    except LookupError as problem:
        st.info(escape_markdown(f"This link shows no talk: {problem}."))
        return
    except StoreAway:
        st.info(AWAY)
        return
    if not here:
        st.info(WAITS)
        return
    lesson, at = here.place.lesson, here.place.at
    clock = planned(lesson, at)
    with st.container(key="speaker_clock"):
        times = {"began": here.began, "stepBegan": here.step_began, "now": time.time()}
        _clock(key="clock", data={**clock._asdict(), **times})
    st.html(_now(lesson, at))
    if lesson.steps[at].has_answer:
        _answer(here.place, lens_of)
    st.html(_next(lesson.steps[at + 1 :]))


def _answer(place: Place, lens_of: LensOf) -> None:
    """The answer of the step as it is set up, once it is asked for; the hall does not see it."""
    known: dict[str, str] = st.session_state.get(ANSWERS, {})
    if place.link in known:
        st.html(f'<p class="answer"><b>Answer:</b> {escape(known[place.link])}</p>')
    else:
        st.button(
            "Show me the answer",
            icon=":material/lightbulb:",
            on_click=lambda: st.session_state.update({ANSWERS: {**known, place.link: _computed(place, lens_of)}}),
            key=f"_answer_{place.step.name}",
        )


def _computed(place: Place, lens_of: LensOf) -> str:
    try:
        this = shown(place.step, lens_of)
        with turn_to_compute(heavy=this.model.is_heavy):
            return this.answer(this.model, this.state)
    except (Busy, ValueError) as problem:
        return str(problem)


def _now(lesson: Lesson, at: int) -> str:
    step = lesson.steps[at]
    notes = escape(step.notes) if step.notes else f"<i>{NO_NOTES}</i>"
    return (
        f'<p class="note">{escape(lesson.title)}: step {at + 1} of {len(lesson.steps)}</p>'
        f"<h1>{escape(step.heading)}</h1>"
        f'<p class="notes">{notes}</p><p class="words">{escape(step.words)}</p>{_asked(step)}'
    )


def _asked(step: Step) -> str:
    """What the hall is asked, and what it is to do."""
    asked = f"<b>Question:</b> {escape(step.predict.ask)}" if step.predict else ""
    options = f" ({escape(' · '.join(step.predict.options))})" if step.predict and step.predict.options else ""
    task = f"<b>Task:</b> {escape(step.task)}" if step.task else ""
    return "".join(f"<p>{text}</p>" for text in (asked + options, task) if text)


def _next(following: Sequence[Step]) -> str:
    if not following:
        return '<p class="next">This is the last step.</p>'
    step = following[0]
    because = f", because {escape(step.because)}" if step.because else "."
    return f'<p class="next"><b>Next:</b> {escape(step.heading)}{because}</p>'
