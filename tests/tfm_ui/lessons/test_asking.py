"""The question that a speaker asks the hall: what is typed becomes a prediction that a lesson can have."""

import pytest

from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_ui.lessons import asking, draft
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.writer import written

STEP = read(LESSON).steps[0]


def taken(ask="Which?", options="", right="", answer="It is this one."):
    predict, said = asking.read(ask, options, right, answer)
    lesson = draft.changed(draft.added(draft.EMPTY, STEP), 0, predict=predict, answer=said, question="")
    assert read(written(lesson)) == lesson
    return lesson.steps[0]


def test_a_choice_is_compared_with_the_right_one():
    step = taken(options="a cat | the mat", right="the mat")
    assert step.predict.options == ("a cat", "the mat")
    assert step.predict.measured.value({}) == "the mat"
    assert (asking.options_of(step), asking.right_of(step)) == ("a cat | the mat", "the mat")
    assert asking.answer_of(step) == "It is this one."


def test_a_number_is_compared_with_a_number_or_what_is_measured():
    step = taken(options="number %", right="100 * 0.5")
    assert (step.predict.kind, step.predict.unit, step.predict.measured.value({})) == ("number", "%", 50)
    assert taken(options="number", right="d_k").predict.measured.value({"d_k": 8}) == 8


def test_free_words_are_compared_with_nothing():
    step = taken()
    assert (step.predict.kind, step.predict.measured, asking.options_of(step)) == ("text", None, "")


def test_a_single_word_is_an_answer_and_no_name_of_a_question():
    assert taken(answer="mat").answer.text({}) == "mat."


def test_nothing_asked_is_no_prediction():
    assert asking.read("", "", "", "") == (None, None)
    assert taken(ask="").predict is None


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"answer": ""}, "an answer to the question"),
        ({"options": "a | b"}, "the right one of the answers"),
        ({"options": "a | b", "right": "3"}, "the right one of a, b; got 3"),
        ({"options": "number", "right": "import os"}, "an expression"),
        ({"answer": "{unfinished"}, "each brace"),
        ({"options": "a", "right": "a"}, "two to 6 different answers"),
        ({"ask": "word " * 26}, "at most 25 words in predict"),
    ],
)
def test_what_cannot_be_asked_is_said(typed, said):
    with pytest.raises(ValueError, match="expected") as refused:
        taken(**typed)
    assert said in str(refused.value)
