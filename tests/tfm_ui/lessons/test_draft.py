"""A lecture that is put together: steps are added, moved, changed and taken out, and its file is always a lesson."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_ui.lessons import draft
from tfm_ui.lessons.reader import MOST_MINUTES, MOST_STEPS, read
from tfm_ui.lessons.writer import written

STEPS = read(LESSON).steps
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("move"), st.integers(0, 60), st.integers(-2, 60)),
        st.tuples(st.just("out"), st.integers(0, 60), st.just(0)),
        st.tuples(st.just("minutes"), st.integers(0, 60), st.integers(1, MOST_MINUTES)),
    ),
    max_size=60,
)


def of(*steps):
    return draft.added(draft.EMPTY, *steps)


def names(lesson):
    return [step.name for step in lesson.steps]


def test_steps_are_added_at_the_end_each_under_a_name_of_its_own():
    lesson = of(*STEPS, STEPS[0], STEPS[0])
    assert names(lesson) == ["a-row-of-weights", "fewer-heads", "a-row-of-weights-2", "a-row-of-weights-3"]
    assert read(written(lesson)) == lesson


def test_steps_move_and_go():
    lesson = of(*STEPS, STEPS[0])
    assert names(draft.moved(lesson, 2, 0)) == ["a-row-of-weights-2", "a-row-of-weights", "fewer-heads"]
    assert names(draft.moved(lesson, 0, 2)) == ["fewer-heads", "a-row-of-weights-2", "a-row-of-weights"]
    assert names(draft.without(lesson, 1)) == ["a-row-of-weights", "a-row-of-weights-2"]


def test_the_minutes_are_those_of_its_steps():
    lesson = of(*STEPS)
    assert lesson.minutes == 2 * draft.MINUTES
    assert draft.changed(lesson, 0, minutes=30).minutes == 30 + draft.MINUTES


def test_what_is_typed_is_taken_as_one_line():
    lesson = draft.changed(of(*STEPS), 1, notes="Say it\nslowly, \t twice.")
    assert lesson.steps[1].notes == "Say it slowly, twice."
    assert read(written(lesson)) == lesson


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"words": "word " * 61}, "at most 60 words in words, got 61"),
        ({"words": "<script>alert(1)</script>"}, "what looks like HTML"),
        ({"words": "see https://example.org"}, "addresses among the sources alone"),
        ({"words": "show: /heads"}, "words between the heading and the step’s first line".replace("’", "'")),
        ({"words": "answer: 5"}, "words between the heading"),
        ({"words": ""}, "words between the heading"),
        ({"heading": ""}, "expected ## , and a heading"),
        ({"heading": "x" * 41}, "at most 40 characters"),
        ({"notes": "word " * 201}, "at most 200 words in notes"),
        ({"because": "word " * 26}, "at most 25 words in because"),
    ],
)
def test_what_no_lesson_can_have_is_not_taken(fields, said):
    lesson = of(*STEPS)
    with pytest.raises(ValueError, match=r"expected") as refused:
        draft.changed(lesson, 0, **fields)
    assert said in str(refused.value)


def test_a_title_is_checked_even_without_steps():
    assert draft.described(draft.EMPTY, title="Attention  on\nMonday").title == "Attention on Monday"
    with pytest.raises(ValueError, match="title"):
        draft.described(draft.EMPTY, title="")


def test_there_are_not_more_steps_than_a_lesson_has():
    lesson = of(*[STEPS[0]] * MOST_STEPS)
    assert read(written(lesson)) == lesson
    with pytest.raises(ValueError, match=f"at most {MOST_STEPS} steps in a lecture, got {MOST_STEPS + 1}"):
        draft.added(lesson, STEPS[1])


@given(acts=ACTS)
def test_whatever_is_done_its_file_is_a_lesson(acts):
    lesson = of(STEPS[0])
    for act, at, to in acts:
        at %= max(1, len(lesson.steps))
        if act == "add" and len(lesson.steps) < MOST_STEPS:
            lesson = draft.added(lesson, STEPS[at % 2])
        elif act == "move" and lesson.steps:
            lesson = draft.moved(lesson, at, to)
        elif act == "out" and lesson.steps:
            lesson = draft.without(lesson, at)
        elif act == "minutes" and lesson.steps:
            lesson = draft.changed(lesson, at, minutes=to)
    assert len(set(names(lesson))) == len(lesson.steps)
    if lesson.steps:
        assert read(written(lesson)) == lesson
