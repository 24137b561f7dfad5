"""The page of the lessons: what each teaches and how long it takes, how far the learner is, and the box for a file."""

import json
from collections.abc import Callable
from html import escape

import streamlit as st

from tfm_ui.lessons import adding, kept, lecture, shelf, syllabus
from tfm_ui.lessons.going import AFTER, go
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.progress import Progress, from_file, tick
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf
from tfm_ui.page import frame, in_lesson, notices, present, upload
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.script_run import by_history
from tfm_ui.text import formats
from tfm_ui.text.glossary import explained
from tfm_ui.text.markdown import escape_markdown

# Keys of the session state: the link of the step that the learner asked for; a file of progress, what is said of it.
GOING, FILE, SAID = "_learn_goes", "_progress_file", "_progress_said"
REL = "noopener noreferrer nofollow"  # of an address that a stranger may have written
Teach = Callable[[Place], None]
LEAD = "Lessons lead through the app step by step: read, predict, look, try. No account is needed."
FOR_TEACHERS = (
    "“Teach it”, on each card, presents a lesson with notes and a clock, prints it, and makes a notebook of it. "
    "Any lesson can be the beginning of your own."
)
WHERE = "How far you are is kept in this browser alone: whoever else uses it sees that, too."


def show(lens_of: LensOf, teach: Teach) -> None:
    """Draw the page, or open the step that its link asks for.

    Args:
        lens_of: the app's lenses.
        teach: draws what a teacher does with a lesson.
    """
    present.end()
    asked = st.session_state.pop(GOING, "") or in_lesson.asked()
    place = _place(asked) if asked else None
    if place and (shelf.is_shipped(place.name) or "." in asked) and not by_history():
        go(place, lens_of)
    with st.container(key="learn"):
        with st.container(horizontal=True, vertical_alignment="center", key="learn_head"):
            st.html(f'<h1>Learn</h1><p class="lead">{LEAD} <a href="#teach">For teachers</a></p>')
            _your_lecture()
        _after()
        adding.say()
        if place and not shelf.is_shipped(place.name):
            _card(place, "Shared", teach, primary=True)
        first, *others = shelf.names()
        _card(Place(first, shelf.shipped(first)), "First", teach, primary=True)
        with st.container(key="chapters"):
            for number, name in enumerate(others, 1):
                _card(Place(name, shelf.shipped(name)), f"{number}", teach)
        _teaching(teach)
        _progress(kept.now())
    syllabus.draw()
    kept.exchange()
    lecture.exchange()


def _your_lecture() -> None:
    steps = len(lecture.now().steps)
    label = f"Your lecture: {formats.plural(steps, 'step')}" if steps else "Put a lecture together"
    st.page_link(frame.lecture_page(), label=label, icon=adding.ICON)


def _teaching(teach: Teach) -> None:
    """What is there for teachers: a lecture, exercise sheets, and the lecture that the visitor puts together."""
    st.html(f'<h2 id="teach">For teachers</h2><p>{FOR_TEACHERS}</p>')
    with st.container(key="teaching"):
        for name in shelf.teaching():
            _card(Place(name, shelf.shipped(name)), "Lecture" if name == shelf.LECTURE else "Sheet", teach)


def _place(asked: str) -> Place | None:
    try:
        return shelf.place(asked)
    except (LookupError, StoreAway) as problem:
        notices.notify(f"The link asked for lesson = {asked[:80]}: {problem}.")
        in_lesson.leave()
        return None


def _after() -> None:
    """Say what comes next, if the learner comes from the last step of a lesson."""
    ended = st.query_params.get(AFTER, "")
    if ended not in shelf.names():
        return
    title, follows = shelf.shipped(ended).title, shelf.after(ended)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_ended"):
        st.html(f"<p>That was the last step of “{escape(title)}”.{_next(follows)}</p>")
        if follows:
            _button(follows, f"Start “{follows.lesson.title}”", "_follows", primary=True)


def _next(follows: Place | None) -> str:
    if not follows:
        return " It was the last lesson: every lens has questions that go on from here."
    return f" Next comes “{escape(follows.lesson.title)}”: after it you can {escape(follows.lesson.objectives[0])}."


def _card(place: Place, number: str, teach: Teach, *, primary: bool = False) -> None:
    lesson, done = place.lesson, kept.now().get(place.name, {})
    with st.container(border=True, key=f"chapter_{place.name}"):
        needs = f" · needs {escape(lesson.needs)}" if lesson.needs else ""
        st.html(
            f'<h2><span class="number">{escape(number)}</span> {escape(lesson.title)}</h2>'
            f'<p class="note">{lesson.minutes} minutes · {formats.plural(len(lesson.steps), "step")}{needs}</p>'
            f"<p>Afterwards you can</p><ul>{''.join(f'<li>{explained(text)}</li>' for text in lesson.objectives)}</ul>"
            f'<p class="ticks">{_ticks(lesson, done)}</p>'
        )
        to = _where_to_go_on(place, done)
        label = "Start" if not done else "Again from the start" if not to.at else f"Go on at step {to.at + 1}"
        with st.container(horizontal=True, gap="small"):
            _button(to, label, f"_start_{place.name}", primary=primary)
            if to.at:
                _button(place, "From the start", f"_restart_{place.name}")
            teach(place)
        with st.expander("Steps and sources"):
            st.html(_steps(lesson, done) + _sources(lesson))


def _button(to: Place, label: str, key: str, *, primary: bool = False) -> None:
    st.button(
        label,
        on_click=lambda: st.session_state.update({GOING: to.link}),
        icon=":material/arrow_forward:",
        type="primary" if primary else "secondary",
        key=key,
    )


def _where_to_go_on(place: Place, done: Progress | dict[str, object]) -> Place:
    """The first step that was not seen; the first of all where all were."""
    unseen = (at for at, step in enumerate(place.lesson.steps) if step.name not in done)
    return place.other(next(unseen, 0))


def _ticks(lesson: Lesson, done: object) -> str:
    """How many steps were seen, and how many tasks are done."""
    known = done if isinstance(done, dict) else {}
    read = sum(step.name in known for step in lesson.steps)
    if not read:
        return ""
    tasks = [step for step in lesson.steps if step.task]
    reached = sum(bool(known.get(step.name, {}).get("reached")) for step in tasks)
    sign = "☑" if read == len(lesson.steps) else "☐"
    said = f"{sign} {read} of {formats.plural(len(lesson.steps), 'step')} seen"
    return said + (f" · {reached} of {formats.plural(len(tasks), 'task')} done" if tasks else "")


def _steps(lesson: Lesson, done: object) -> str:
    known = done if isinstance(done, dict) else {}
    items = (f"<li>{escape(step.heading)}{tick(step, known)}</li>" for step in lesson.steps)
    return f"<ol>{''.join(items)}</ol>"


def _sources(lesson: Lesson) -> str:
    """The sources; what a visitor has brought may name any address, so it is written out."""
    links = (
        f'<li>{escape(source.name)}: <a href="{escape(source.address)}" target="_blank" rel="{REL}">'
        f"{escape(source.address)}</a></li>"
        for source in lesson.sources
    )
    return f"<p>Sources</p><ul>{''.join(links)}</ul>" if lesson.sources else ""


def _progress(progress: Progress) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="my_progress"):
        st.html(f'<p class="note">{WHERE}</p>')
        st.download_button(
            "Export my progress",
            json.dumps(progress, ensure_ascii=False, indent=1),
            "attention-lab-progress.json",
            "application/json",
            icon=":material/download:",
            disabled=not progress,
            on_click="ignore",
            key="_export_progress",
        )
        st.button(
            "Forget my progress",
            icon=":material/delete:",
            disabled=not progress,
            on_click=kept.forget,
            key="_forget_progress",
        )
        with st.popover("Bring it back", icon=":material/upload:", key="bring_progress"):
            st.file_uploader("The file that you exported (.json)", max_upload_size=1, key=FILE, on_change=_bring_back)
            said, is_back = st.session_state.get(SAID, ("", True))
            if said:
                (st.success if is_back else st.error)(escape_markdown(said))


def _bring_back() -> None:
    """A file of progress was chosen or taken back."""
    st.session_state.pop(SAID, None)
    file = st.session_state.get(FILE)
    if file is None:
        return
    try:
        exported = from_file(file.getvalue())
    except ValueError as problem:
        st.session_state[SAID] = f"{upload.name_of(file)}: {problem}.", False
    else:
        kept.bring_back(exported)
        st.session_state[SAID] = f"The progress of {formats.plural(len(exported), 'lesson')} is here again.", True
