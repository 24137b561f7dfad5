"""The page on which a visitor puts a lecture together: its steps in order, with words, notes and minutes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from tfm_ui.lessons import adding, asking, draft, lecture, shelf
from tfm_ui.lessons.asking import answer_of, options_of, right_of
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.lesson_file import lesson_file, qr
from tfm_ui.lessons.reader import MOST_HEADING, MOST_MINUTES, MOST_TITLE, FaultyLesson, read
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, shown
from tfm_ui.lessons.writer import address, written
from tfm_ui.page import frame, upload
from tfm_ui.page.header import label
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import visitor_here

Give = Callable[[Place], None]
Checked = Callable[[bytes], str]
UPLOAD = "_lecture_upload"
# Keys of the session state: what is wrong with a control's text, by the control; what is said of a file; the name under
# which the lecture was kept last.
FAULTS, FILE_SAID, KEPT = "_lecture_faults", "_lecture_file_said", "_lecture_kept"
LEAD = (
    "Collect questions, steps and pages with your own settings: the sign of a list with a plus stands beside each of "
    "them, on every page. Here you put them in order, and write what you want to say."
)
WHERE = "This browser keeps it, without an account. Save the file to have it elsewhere."
NOTHING = "Nothing is in it yet. Open a page, and press “Add to lecture” beside its question; or begin with a lesson."
MOST_SHOWN = 40  # characters of a step's text
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
        with st.popover("What it teaches", icon=":material/target:", type="tertiary", key="lecture_goals"):
            _goals(lesson)
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


def _goals(lesson: Lesson) -> None:
    """What its card, its sheets and its notebook say of it."""
    goals = "Afterwards the hall can …, one on each line"
    _text(goals, "objectives", "\n".join(lesson.objectives), _set_objectives, height=120)
    _text("It needs", "needs", lesson.needs or "nothing", lambda value: _describe("needs", _needs(value)))


def _set_objectives(value: str) -> None:
    lines = tuple(" ".join(line.split()) for line in value.splitlines() if line.strip())
    lecture.put(draft.described(lecture.now(), objectives=lines))


def _needs(value: str) -> str:
    return "" if value.strip() in ("", "nothing") else value


def _describe(name: str, value: str) -> None:
    lecture.put(draft.described(lecture.now(), **{name: value}))


def _give(lesson: Lesson, give: Give) -> None:
    """What can be done with it: the file at once, everything else when the server has kept it."""
    text = written(lesson)
    name = _name_here(text)
    kept_name: str = name or st.session_state.get(KEPT, "")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="give_lecture"):
        lesson_file(lesson, "my-lecture")
        if not name:
            st.button(
                "Keep the changed lecture" if kept_name else "Keep it on this server",
                icon=":material/cloud_upload:",
                help=KEEPS,
                on_click=_keep,
                type="primary",
                key="_keep_lecture",
            )
            st.html(f'<p class="note">{_why_keep(bool(kept_name))}</p>', width="content")
    if kept_name:
        _kept(kept_name, give)
    if fault := st.session_state.get(FAULTS, {}).get("keep"):
        st.error(escape_markdown(fault), icon=":material/error:")


def _why_keep(was_kept: bool) -> str:
    if was_kept:
        return "The link below shows it as it was when it was kept. The changed one gets a link of its own."
    return "Then it has a short link, and can be presented, printed, and taken along as a notebook."


def _name_here(text: str) -> str:
    """The name under which the server keeps it as it is; "" if it does not."""
    with suppress(StoreAway):
        return shelf.kept(text, visitor_here())
    return ""


def _kept(name: str, give: Give) -> None:
    try:
        place = Place(name, shelf.find(name))
    except (LookupError, StoreAway):  # forgotten meanwhile
        return
    link = f"{frame.app_address()}/{frame.LEARN}?lesson={place.name}"
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
        st.session_state[KEPT] = name


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
    view = this.lens.view_of(this.state)
    parts = [f"{this.lens.title}{f', {view.title}' if view.title and view.title != this.lens.title else ''}"]
    if view.uses_model:
        text = " ".join(this.model.read_text.split())
        parts += [
            label(this.model, this.lens.beside),
            f"“{text if len(text) <= MOST_SHOWN else f'{text[:MOST_SHOWN]}…'}”",
        ]
    if step.predict:
        parts.append(f"asks: {step.predict.ask}")
    if step.task:
        parts.append(f"task: {step.task}")
    link = f'<a href="{escape(address(step)[1:] or ".")}" target="_blank" rel="noopener">open its page</a>'
    return f"{escape(' · '.join(parts))} · {link}"


def _more(lesson: Lesson, at: int, step: Step) -> None:
    _text("Words: what learners read, plain text", f"words_{step.name}", step.words, _field(at, "words"), height=100)
    notes = "Notes: what you want to say. The speaker’s view shows them."
    _text(notes, f"notes_{step.name}", step.notes, _field(at, "notes"), height=100)
    if at:
        because = f"The reason in “Next: {step.heading}, because …”"
        _text(because, f"because_{step.name}", step.because, _field(at, "because"))
    if not step.question:
        _question(at, step)
    key = f"_lecture_place_{step.name}"
    st.session_state[key] = at + 1
    st.selectbox(
        "Place",
        range(1, len(lesson.steps) + 1),
        key=key,
        on_change=lambda: _move(at, st.session_state[key] - 1),
        width=160,
    )


def _question(at: int, step: Step) -> None:
    """The form of a question of the speaker's; a step of a page's question has that one."""
    fields = {
        "ask": ("Question to the hall; nothing if you ask nothing", step.predict.ask if step.predict else ""),
        "options": (
            "Answers to choose from, with | between them; or “number”; nothing for free words",
            options_of(step),
        ),
        "right": ("The right one of them, or the right number", right_of(step)),
        "answer": ("The answer, in a sentence or two", answer_of(step)),
    }
    with st.form(f"lecture_question_{step.name}"):
        for name, (label_of, value) in fields.items():
            st.text_input(label_of, value, key=f"_lecture_{name}_{step.name}")
        st.form_submit_button(
            "Take the question", icon=":material/check:", on_click=_take_question, args=(at, step.name, [*fields])
        )
        if said := st.session_state.get(FAULTS, {}).get(f"question_{step.name}"):
            st.error(escape_markdown(f"Not taken: {said}."), icon=":material/error:")


def _take_question(at: int, step: str, fields: Sequence[str]) -> None:
    typed = {name: st.session_state[f"_lecture_{name}_{step}"] for name in fields}
    try:
        predict, answer = asking.read(**typed)
        lecture.put(draft.changed(lecture.now(), at, predict=predict, answer=answer))
    except ValueError as problem:
        _fault(f"question_{step}", str(problem))
    else:
        _fault(f"question_{step}", "")


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
