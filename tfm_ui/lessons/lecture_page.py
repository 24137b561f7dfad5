"""The page on which a visitor puts a lecture together: its steps in order, with words, notes and minutes."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from tfm_ui.lessons import adding, draft, lecture, shelf
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.lesson_file import lesson_file, qr
from tfm_ui.lessons.reader import MOST_HEADING, MOST_MINUTES, MOST_TITLE, FaultyLesson, read
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, shown
from tfm_ui.lessons.writer import address, written
from tfm_ui.page import frame, share, upload
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import visitor_here

Give = Callable[[Place], None]
Checked = Callable[[bytes], str]
UPLOAD = "_lecture_upload"
# Keys of the session state: what is wrong with a control's text, by the control; the file, and what is said of it; the
# text of the lecture as it was kept on the server, with its name.
FAULTS, FILE_SAID, KEPT = "_lecture_faults", "_lecture_file_said", "_lecture_kept"
LEAD = (
    "Collect questions, steps and pages with your own settings: the sign of a list with a plus stands beside each of "
    "them, on every page. Here you put them in order, and write what you want to say."
)
WHERE = "This browser keeps it, without an account. Save the file to have it elsewhere."
NOTHING = "Nothing is in it yet. Open a page, and press “Add to lecture” beside its question; or begin with a lesson."
KEEPS = "The server keeps it for a week after it was opened last, for whoever has the link."


def show(lens_of: LensOf, give: Give, checked: Checked) -> None:
    """Draw the page.

    Args:
        lens_of: the app's lenses.
        give: draws what can be done with a lesson that the server knows.
        checked: returns the text of a lesson without faults, of a file's bytes; raises ValueError for any other.
    """
    lesson = lecture.now()
    with st.container(key="lecture"):
        st.html(f'<h1>Your lecture</h1><p class="lead">{LEAD}</p>')
        adding.say()
        _about(lesson)
        if lesson.steps:
            _give(lesson, give)
        else:
            st.info(NOTHING, icon=":material/playlist_add:")
        for at, step in enumerate(lesson.steps):
            _step(lesson, at, step, lens_of)
        _begin_with(checked)
        st.html(f'<p class="note">{WHERE}</p>')
    lecture.exchange()


def _about(lesson: Lesson) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="lecture_about"):
        _text("Title", "title", lesson.title, partial(_describe, "title"), max_chars=MOST_TITLE)
        said = f"{formats.plural(len(lesson.steps), 'step')} · {formats.plural(lesson.minutes, 'minute')}"
        st.html(f'<p class="sum">{said if lesson.steps else ""}</p>', width="content")
        st.button(
            "Undo",
            icon=":material/undo:",
            disabled=not lecture.before(),
            on_click=lecture.undo,
            type="tertiary",
            key="_undo_lecture",
        )
        st.button(
            "Start anew",
            icon=":material/delete:",
            disabled=not lesson.steps,
            on_click=partial(lecture.put, draft.EMPTY),
            type="tertiary",
            key="_empty_lecture",
        )


def _describe(name: str, value: str) -> None:
    lecture.put(draft.described(lecture.now(), **{name: value}))


def _give(lesson: Lesson, give: Give) -> None:
    """What can be done with it: the file at once, everything else when the server has kept it."""
    text = written(lesson)
    kept_text, name = st.session_state.get(KEPT, ("", ""))
    is_kept = kept_text == text
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="give_lecture"):
        lesson_file(lesson, "my-lecture")
        if not is_kept:
            st.button(
                "Keep it on this server",
                icon=":material/cloud_upload:",
                help=KEEPS,
                on_click=_keep,
                type="primary",
                key="_keep_lecture",
            )
            st.html(f'<p class="note">{_why_keep(bool(kept_text))}</p>', width="content")
    if is_kept:
        _kept(Place(name, lesson), give)
    if fault := st.session_state.get(FAULTS, {}).get("keep"):
        st.error(escape_markdown(fault), icon=":material/error:")


def _why_keep(was_kept: bool) -> str:
    if was_kept:
        return "It has been changed since it was kept: the link shows it as it was."
    return "Then it has a short link, and can be presented, printed, and taken along as a notebook."


def _kept(place: Place, give: Give) -> None:
    link = f"{share.address().rpartition('/')[0]}/{frame.LEARN}?lesson={place.name}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lecture_kept"):
        st.code(link, language=None, wrap_lines=True)
        qr(link)
    give(place)


def _keep() -> None:
    text = written(lecture.now())
    try:
        name = shelf.keep(text, visitor_here())
    except (ValueError, StoreAway) as problem:
        _fault("keep", str(problem))
    else:
        _fault("keep", "")
        st.session_state[KEPT] = text, name


def _step(lesson: Lesson, at: int, step: Step, lens_of: LensOf) -> None:
    with st.container(border=True, key=f"lecture_step_{at}"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"lecture_line_{at}"):
            st.html(f'<span class="number">{at + 1}</span>', width="content")
            _text("Heading", f"heading_{step.name}", step.heading, _field(at, "heading"), max_chars=MOST_HEADING)
            key = f"_lecture_minutes_{step.name}"
            st.session_state[key] = step.minutes or draft.MINUTES
            st.number_input(
                "Minutes",
                1,
                MOST_MINUTES,
                key=key,
                on_change=lambda: _field(at, "minutes")(st.session_state[key]),
                width=120,
            )
            last = len(lesson.steps) - 1
            _act("Move up", "arrow_upward", f"_up_{at}", partial(_move, at, at - 1), disabled=at == 0)
            _act("Move down", "arrow_downward", f"_down_{at}", partial(_move, at, at + 1), disabled=at == last)
            _act("Take out", "close", f"_out_{at}", partial(_take_out, at))
        st.html(f'<p class="note">{_what(step, lens_of)}</p>')
        more = st.expander("Words, notes, place", key=f"lecture_more_{step.name}", on_change="rerun")
        if more.open:
            with more:
                _more(lesson, at, step)


def _what(step: Step, lens_of: LensOf) -> str:
    """What the step shows and asks, as HTML."""
    try:
        this = shown(step, lens_of)
    except ValueError as problem:
        return escape(str(problem))
    view = this.lens.view_of(this.state).title
    parts = [f"{this.lens.title}{f', {view}' if view and view != this.lens.title else ''}"]
    if step.predict:
        parts.append(f"asks: {step.predict.ask}")
    if step.task:
        parts.append(f"task: {step.task}")
    link = f'<a href="{escape(address(step)[1:] or ".")}" target="_blank" rel="noopener">open its page</a>'
    return f"{escape(' · '.join(parts))} · {link}"


def _more(lesson: Lesson, at: int, step: Step) -> None:
    _text("Words: what learners read", f"words_{step.name}", step.words, _field(at, "words"), height=100)
    notes = "Notes: what you want to say. The speaker’s view shows them."
    _text(notes, f"notes_{step.name}", step.notes, _field(at, "notes"), height=100)
    because = "Why it comes after the step before: “Next: …, because …”"
    _text(because, f"because_{step.name}", step.because, _field(at, "because"))
    key = f"_lecture_place_{step.name}"
    st.session_state[key] = at + 1
    st.selectbox(
        "Place",
        range(1, len(lesson.steps) + 1),
        key=key,
        on_change=lambda: _move(at, st.session_state[key] - 1),
        width=160,
    )


def _act(label: str, icon: str, key: str, act: Callable[[], None], *, disabled: bool = False) -> None:
    with st.container(width="content", key=f"act{key}"):
        st.button(label, icon=f":material/{icon}:", on_click=act, type="tertiary", disabled=disabled, key=key)


def _move(at: int, to: int) -> None:
    lecture.put(draft.moved(lecture.now(), at, to))


def _take_out(at: int) -> None:
    lecture.put(draft.without(lecture.now(), at))


def _field(at: int, name: str) -> Callable[[Any], None]:
    return lambda value: lecture.put(draft.changed(lecture.now(), at, **{name: value}))


def _text(
    label: str, name: str, value: str, put: Callable[[str], None], *, height: int = 0, max_chars: int | None = None
) -> None:
    """Draw a text; what cannot be taken stays in its box, and a sentence below says why."""
    key, faults = f"_lecture_{name}", st.session_state.get(FAULTS, {})
    if not faults.get(key):
        st.session_state[key] = value

    def changed() -> None:
        try:
            put(st.session_state[key])
        except ValueError as problem:
            _fault(key, str(problem))
        else:
            _fault(key, "")

    with st.container(gap=None, key=f"lecture_text_{name}"):
        if height:
            st.text_area(label, height=height, key=key, on_change=changed)
        else:
            st.text_input(label, max_chars=max_chars, key=key, on_change=changed)
        if fault := faults.get(key):
            st.error(escape_markdown(f"Not taken: {fault}."), icon=":material/error:")


def _fault(key: str, text: str) -> None:
    st.session_state[FAULTS] = {**st.session_state.get(FAULTS, {}), key: text}


def _begin_with(checked: Checked) -> None:
    with st.expander("Add the steps of a lesson, or of a file"):
        titles = {name: shelf.shipped(name).title for name in (*shelf.names(), *shelf.teaching())}
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="add_lesson"):
            name = st.selectbox("Lesson", titles, format_func=titles.__getitem__, key="_lesson_to_add")
            st.button(
                "Add all its steps",
                icon=adding.ICON,
                on_click=lambda: adding.all_steps(shelf.shipped(name)),
                key="_add_lesson",
            )
        what = "the lecture, once you keep it on this server"
        upload.draw("A lesson: a text file (.md)", key=UPLOAD, most=1, read=partial(_file, checked), what=what)
        if said := st.session_state.get(FILE_SAID):
            st.error(escape_markdown(said), icon=":material/error:")


def _file(checked: Checked) -> None:
    st.session_state.pop(FILE_SAID, None)
    if (file := st.session_state.get(UPLOAD)) is None:
        return
    try:
        with upload.in_turn(UPLOAD, file):
            adding.all_steps(read(checked(file.getvalue())))
    except FaultyLesson as faulty:
        st.session_state[FILE_SAID] = "; ".join(fault.named(upload.name_of(file)) for fault in faulty.faults[:8])
    except ValueError as problem:
        st.session_state[FILE_SAID] = f"{upload.name_of(file)}: {problem}"
