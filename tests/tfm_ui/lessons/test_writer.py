"""Writing a lesson: what is written is read as an equal lesson."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_ui.lessons import shelf
from tfm_ui.lessons.lesson import Predict
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.writer import address, written

PLAIN = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=20).map(
    lambda text: "word " + text.replace("<", "").replace("{", "").replace("}", "")
)


@pytest.mark.parametrize("name", [*shelf.names(), *shelf.teaching()])
def test_a_shipped_lesson_is_read_again(name):
    lesson = shelf.shipped(name)
    assert read(written(lesson)) == lesson


def test_all_that_a_step_can_have_is_written():
    more = "exercise: attention\nbecause: it comes next.\nnotes: Say it slowly.\nminutes: 4\nname: other-name\n"
    lesson = read(LESSON + more)
    last = lesson.steps[-1]
    assert (last.exercise, last.because, last.notes, last.minutes) == (
        "attention",
        "it comes next.",
        "Say it slowly.",
        4,
    )
    assert last.name == "other-name"
    assert read(written(lesson)) == lesson


@given(words=PLAIN, notes=PLAIN, minutes=st.integers(0, 240))
def test_what_a_speaker_types_comes_back(words, notes, minutes):
    lesson = read(LESSON)
    step = replace(lesson.steps[0], words=words, notes=notes, minutes=minutes)
    assert read(written(replace(lesson, steps=(step,)))).steps == (step,)


def test_free_words_and_units_are_written():
    lesson = read(LESSON)
    words = replace(lesson.steps[0], predict=Predict(ask="Why is that?", kind="text", hides=("heads",)))
    again = read(written(replace(lesson, steps=(words,)))).steps[0]
    assert again == words
    assert read(written(lesson)).steps[0].predict.unit == "numbers"


def test_the_address_of_a_page():
    lesson = read(LESSON.replace("/heads?heads_layer=2", "/"))
    assert [address(step) for step in lesson.steps] == ["/attention?attention_query=9", "/"]
