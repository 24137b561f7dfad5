"""Every question of every lens becomes a step of a lecture: with its page, its prediction and its answer."""

import pytest

from tfm_ui.lenses import NAMES, lens, lenses
from tfm_ui.lessons import checks, collect, draft
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.shown import shown
from tfm_ui.lessons.writer import written
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("of", lenses(), ids=lambda of: of.name)
def test_every_question_becomes_a_step_without_faults(of):
    for question in of.questions:
        lesson = draft.added(draft.EMPTY, collect.of_question(of, question))
        assert read(written(lesson)) == lesson
        assert [*checks.faults(lesson, lens, NAMES)] == []
        (step,) = lesson.steps
        this = shown(step, lens)
        assert this.question is question
        assert (step.words, step.has_answer) == (question.ask, True)
        model, state = ModelState(**question.model), of.state(**question.controls)
        assert this.is_on_screen(of, model, state)
        assert question.is_true(this.model, this.state)
        assert (step.predict is None) == (question.predict is None)


@pytest.mark.parametrize("of", lenses(), ids=lambda of: of.name)
def test_every_view_becomes_a_step_as_it_is(of):
    for name in of.views:
        state = of.state(**({"view": name} if len(of.views) > 1 else {}))
        model = ModelState(text="my own words", num_heads=2, seed=3)
        lesson = draft.added(draft.EMPTY, collect.of_page(of, model, state))
        assert read(written(lesson)) == lesson
        assert [*checks.faults(lesson, lens, NAMES)] == []
        this = shown(lesson.steps[0], lens)
        assert (this.model, this.state) == (model, state)
        assert not collect.is_cut(of, model, state)


def test_a_text_that_is_too_long_for_a_link_is_said_to_be_cut():
    of = lens("heads")
    assert collect.is_cut(of, ModelState(text="word " * 900), of.state())
