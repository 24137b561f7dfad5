"""The box for a lesson that a visitor brings: it is checked, kept, and opened by its link."""

from collections.abc import Sequence

import streamlit as st

from tfm_ui.lessons import checks, shelf
from tfm_ui.lessons.reader import MOST_BYTES, Fault, FaultyLesson, read
from tfm_ui.lessons.shown import LensOf
from tfm_ui.page import in_lesson, upload
from tfm_ui.store.store import StoreAway
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import visitor_here

# What a session alone knows: the file, what is wrong with it, and the name and title of the lesson that was kept.
UPLOAD, PROBLEMS, KEPT = "_lesson_upload", "_lesson_problems", "_lesson_kept"
MOST_SHOWN = 8  # faults
ABOUT = (
    "A lesson is a text file of steps, such as the one below. `show` is the address of a page of this app, from its "
    "`/` on. What else a step may have, and what can be measured, is told in docs/lessons.md of this project; the "
    "faults of a file are told here, and by `python -m tfm_ui.lessons check FILE`. A lesson is text alone: nothing in "
    "it is executed."
)


def box(lens_of: LensOf, names: Sequence[str]) -> None:
    """Draw the box, and what is wrong with the file."""
    with st.expander("Bring a lesson of your own"):
        st.markdown(ABOUT)

        def changed() -> None:
            _changed(lens_of, names)

        upload.draw("A lesson: a text file (.md)", key=UPLOAD, most=1, read=changed, what="the lesson")
        if problems := st.session_state.get(PROBLEMS):
            st.error("\n\n".join(escape_markdown(problem) for problem in problems), icon=":material/error:")
        name, title = st.session_state.get(KEPT, ("", ""))
        if name and name == in_lesson.asked():
            said = "is kept. Its card is the first on this page, and the link of this page opens it for others, too."
            st.success(f"“{escape_markdown(title)}” {said}", icon=":material/check:")
        st.code(shelf.example(), language=None, wrap_lines=True, height=320)


def _changed(lens_of: LensOf, names: Sequence[str]) -> None:
    """A file was chosen or taken back. What is on screen stays where no lesson can be read."""
    st.session_state.pop(PROBLEMS, None)
    st.session_state.pop(KEPT, None)
    file = st.session_state.get(UPLOAD)
    if file is None:
        return
    called = upload.name_of(file)
    try:
        with upload.in_turn(UPLOAD, file):
            name = shelf.keep(checked(file.getvalue(), lens_of, names), visitor_here())
    except FaultyLesson as faulty:
        told = [fault.named(called) for fault in faulty.faults[:MOST_SHOWN]]
        more = len(faulty.faults) - len(told)
        st.session_state[PROBLEMS] = told + ([f"and {more} more"] if more else [])
    except (ValueError, StoreAway) as problem:
        st.session_state[PROBLEMS] = [f"{called}: {problem}"]
    else:
        st.query_params[in_lesson.PARAMETER] = name
        st.session_state[KEPT] = name, shelf.place(name).lesson.title


def checked(data: bytes, lens_of: LensOf, names: Sequence[str]) -> str:
    """The text of a lesson without faults.

    Raises:
        FaultyLesson: with its faults; its answers are not computed for that, which would take a pass of many models.
        ValueError: if it is no text.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"expected a lesson of at most {MOST_BYTES:,} bytes, got {len(data):,}")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        raise ValueError("expected text in UTF-8, got other bytes") from problem
    faults: list[Fault] = [*checks.faults(read(text), lens_of, names)]
    if faults:
        raise FaultyLesson(faults)
    return text
