"""The syllabus: all chapters with what they teach, their steps and sources. The page of the lessons prints as this."""

from html import escape

import streamlit as st

from tfm_core.version import __version__
from tfm_ui.folders import ASSETS
from tfm_ui.lessons import shelf
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.page.preview import APP
from tfm_ui.text import formats


def draw() -> None:
    """Draw the syllabus in this place: on paper it stands instead of the page, on a screen nobody sees it."""
    style = (ASSETS / "lessons" / "print.css").read_text(encoding="utf-8")
    st.html(f'<style>{style}</style><div class="syllabus">{syllabus()}</div>')


def syllabus() -> str:
    """All chapters that come with the app, in teaching order, as HTML."""
    lessons = [shelf.shipped(name) for name in shelf.names()]
    minutes = sum(lesson.minutes for lesson in lessons)
    steps = sum(len(lesson.steps) for lesson in lessons)
    facts = f"{formats.plural(len(lessons), 'chapter')} · {steps} steps · {minutes // 60} h {minutes % 60:02d} min"
    rows = "".join(
        f"<tr><td>{number}</td><td>{escape(lesson.title)}</td><td>{lesson.minutes}</td>"
        f"<td>{len(lesson.steps)}</td><td>{escape(lesson.needs or '–')}</td></tr>"
        for number, lesson in enumerate(lessons)
    )
    head = "<tr><th></th><th>Chapter</th><th>Minutes</th><th>Steps</th><th>Needs</th></tr>"
    chapters = "".join(_chapter(number, lesson) for number, lesson in enumerate(lessons))
    return (
        f'<p class="title">Syllabus: how a transformer works</p><p class="facts">{facts} · {APP} {__version__}</p>'
        f'<table class="overview"><thead>{head}</thead><tbody>{rows}</tbody></table>{chapters}'
    )


def _chapter(number: int, lesson: Lesson) -> str:
    needs = f" · needs {escape(lesson.needs)}" if lesson.needs else ""
    objectives = "".join(f"<li>{escape(each)}</li>" for each in lesson.objectives)
    steps = "".join(f"<li>{escape(step.heading)}</li>" for step in lesson.steps)
    sources = "".join(f"<li>{escape(source.name)}: {escape(source.address)}</li>" for source in lesson.sources)
    return (
        f'<section><p class="chapter"><b>{number}</b> {escape(lesson.title)}</p>'
        f'<p class="facts">{lesson.minutes} minutes · {formats.plural(len(lesson.steps), "step")}{needs}</p>'
        f"<p>Afterwards you can</p><ul>{objectives}</ul>"
        f'<p>Steps</p><ol class="steps">{steps}</ol>'
        f"{f'<p>Sources</p><ul>{sources}</ul>' if sources else ''}</section>"
    )
