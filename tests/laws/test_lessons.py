"""The lessons that come with the app: each has no faults, and each step opens a page with its picture and answer."""

import pytest

from tfm_ui.lenses import NAMES, lens
from tfm_ui.lessons import checks, shelf
from tfm_ui.lessons.shown import shown
from tfm_ui.live.not_here import missing_weights
from tfm_ui.pictures.panel import panels_in

LESSONS = shelf.names()
STEPS = [(name, step) for name in LESSONS for step in shelf.shipped(name).steps]


def test_every_file_has_its_place_in_the_order():
    assert sorted(LESSONS) == sorted(file.stem for file in shelf.FOLDER.glob("*.md"))
    assert LESSONS[0] == shelf.START


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


@pytest.mark.parametrize("name", LESSONS[1:])
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
