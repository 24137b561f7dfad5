"""The lessons that come with the app: each has no faults, and each step opens a page with its picture and answer.

Chapters are for learners, the lecture and the exercise sheets for teachers; of these, the file is what the app writes.
"""

import re
from collections import Counter

import pytest

from tfm_ui.lenses import NAMES, lens
from tfm_ui.lessons import checks, shelf
from tfm_ui.lessons.reader import MOST_WORDS
from tfm_ui.lessons.shown import shown
from tfm_ui.lessons.writer import written
from tfm_ui.live.not_here import missing_weights
from tfm_ui.pictures.panel import panels_in

CHAPTERS, TEACHING = shelf.names(), shelf.teaching()
LESSONS = [*CHAPTERS, *TEACHING]
SHEETS = [name for name in TEACHING if name != shelf.LECTURE]
STEPS = [(name, step) for name in LESSONS for step in shelf.shipped(name).steps]
BECAUSE = re.compile(r"(?:[a-z]|Lab GPT|NaN).*[^.]\.")  # the end of a sentence: “Next: …, because …”


def test_every_file_has_its_place_in_the_order():
    assert sorted(CHAPTERS) == sorted(file.stem for file in shelf.FOLDER.glob("*.md"))
    assert sorted(TEACHING) == sorted(file.stem for file in (shelf.FOLDER / "teaching").glob("*.md"))
    assert CHAPTERS[0] == shelf.START
    assert TEACHING[0] == shelf.LECTURE
    assert not {*CHAPTERS} & {*TEACHING}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_no_faults(name):
    assert [fault.named(name) for fault in checks.faults(shelf.shipped(name), lens, NAMES)] == []


@pytest.mark.parametrize(("name", "step"), STEPS, ids=lambda part: getattr(part, "name", part))
def test_a_step_has_its_picture_its_answer_and_a_task_that_is_still_to_be_done(name, step):
    this = shown(step, lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    assert [fault.named(name) for fault in checks.run_step(step, lens)] == []
    panels = panels_in(this.lens.blocks(this.model, this.state))
    pictures = [this.lens.pictures[panel.picture_name] for panel in panels if panel.picture_name]
    assert pictures
    assert pictures[0].content(this.model, this.state)
    if step.answer:  # that of a question is as long as it needs to be
        assert len(this.answer(this.model, this.state).split()) <= MOST_WORDS["answer"]


@pytest.mark.parametrize("name", LESSONS)
def test_every_step_but_the_first_says_why_it_comes_now(name):
    first, *others = shelf.shipped(name).steps
    assert not first.because
    for step in others:
        assert BECAUSE.fullmatch(step.because), step.name


def test_no_reason_is_given_twice():
    reasons = Counter(step.because for _, step in STEPS if step.because)
    assert [reason for reason, times in reasons.items() if times > 1] == []


@pytest.mark.parametrize("name", TEACHING)
def test_what_is_for_teachers_is_written_as_the_app_writes_it(name):
    file = shelf.FOLDER / "teaching" / f"{name}.md"
    assert file.read_text(encoding="utf-8") == written(shelf.shipped(name))


@pytest.mark.parametrize("name", TEACHING)
def test_what_is_for_teachers_takes_as_long_as_its_steps(name):
    lesson = shelf.shipped(name)
    assert all(step.minutes for step in lesson.steps)
    assert sum(step.minutes for step in lesson.steps) == lesson.minutes == (90 if name == shelf.LECTURE else 45)


def test_the_lecture_has_something_to_say_and_to_ask_and_to_show():
    steps = shelf.shipped(shelf.LECTURE).steps
    assert 18 <= len(steps) <= 22
    assert all(step.notes and step.has_answer for step in steps)
    asks = [bool(step.predict and step.predict.options) for step in steps]
    assert all(any(asks[at : at + 3]) for at in range(len(asks) - 2))  # a hall can vote on options
    assert sum(bool(step.task) for step in steps) >= 6


@pytest.mark.parametrize("name", SHEETS)
def test_each_step_of_a_sheet_asks_for_a_prediction_and_answers_it(name):
    lesson = shelf.shipped(name)
    assert lesson.title.startswith(f"Exercise sheet {SHEETS.index(name) + 1}: ")
    assert 8 <= len(lesson.steps) <= 10
    for step in lesson.steps:
        assert step.predict, step.name
        assert step.answer, step.name
        assert step.answer.names, step.name  # computed
        assert not step.task, step.name  # nothing of it can be done on paper


@pytest.mark.parametrize("name", CHAPTERS[1:])
def test_a_chapter_is_of_the_length_of_a_lesson(name):
    lesson = shelf.shipped(name)
    assert 15 <= lesson.minutes <= 30
    assert 6 <= len(lesson.steps) <= 12
    assert sum(bool(step.task) for step in lesson.steps) >= 2
    assert any(step.predict for step in lesson.steps)


def test_to_start_takes_ten_minutes():
    lesson = shelf.shipped(shelf.START)
    assert (lesson.minutes, len(lesson.steps), lesson.needs) == (10, 10, "")
    assert sum(bool(step.task) for step in lesson.steps) >= 3
