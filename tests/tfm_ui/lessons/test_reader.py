"""Reading a lesson: what stands in its file becomes its fields, and each fault is named with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lessons.lesson_text import FIRST, HEAD, LESSON, SECOND
from tfm_ui.lessons.reader import MOST_BYTES, FaultyLesson, read


def test_a_lesson_is_read():
    lesson = read(LESSON)
    assert (lesson.title, lesson.minutes, lesson.needs) == ("One head, by hand", 5, "")
    assert lesson.objectives == ("say what one attention weight is made of",)
    assert [(source.name, source.address) for source in lesson.sources] == [
        ("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762")
    ]
    first, second = lesson.steps
    assert (first.heading, first.name) == ("A row of weights", "a-row-of-weights")
    assert first.words == "The row of “was” says how much “was” takes from each word."
    assert (first.show, first.query) == (("attention", "attention_query=9"), {"attention_query": ["9"]})
    assert (first.predict.ask, first.predict.kind, first.predict.unit) == ("How wide is a head?", "number", "numbers")
    assert first.predict.measured.text == "d_k"
    assert first.answer.text({"d_k": 8, "d_model": 1024}) == "Each head has 8 of the 1,024 numbers."
    assert (second.task, second.reached.text, second.question) == (
        "Make each head sixteen numbers wide.",
        "d_k == 16",
        "many-heads",
    )
    assert second.moves == {"seed"}
    assert lesson.step("fewer-heads") == 1
    assert lesson.step("no-such-step") is None


def test_lines_end_as_they_do_elsewhere():
    assert read("\ufeff" + LESSON.replace("\n", "\r\n")).title == read(LESSON).title


def test_the_first_page_has_no_name():
    assert read(LESSON.replace("/heads?heads_layer=2", "/")).steps[1].show == ("home", "")


def test_choices_and_free_words():
    choice = read(LESSON.replace("number numbers", "four | eight")).steps[0].predict
    assert (choice.kind, choice.options) == ("choice", ("four", "eight"))
    words = read(LESSON.replace("number numbers", "text").replace("measured: d_k\n", "")).steps[0].predict
    assert (words.kind, words.measured) == ("text", None)


FAULTS = {  # a text and what stands for it -> the line, and a part of what is said
    ("---\ntitle", "title"): (1, "between two lines ---, got “title: One head, by hand”"),
    ("minutes: 5", "minutes: five"): (3, "expected a whole number of minutes from 1 to 240, got “five”"),
    ("minutes: 5", "minutes: 0"): (3, "expected a whole number of minutes"),
    ("minutes: 5\n", ""): (1, "expected how many minutes it takes"),
    ("needs: nothing\n", ""): (1, "expected what a learner has to know before"),
    ("needs: nothing", "needs: nothing\nauthor: me"): (5, "expected one of title, minutes, needs, objectives, sources"),
    ("needs: nothing", "needs: nothing\nneeds: much"): (5, "expected needs once, got it again"),
    ("- say what one attention weight is made of\n", ""): (5, "expected one to 8 objectives, got 0"),
    ("https://arxiv.org", "http://arxiv.org"): (8, "an address that begins with https://"),
    ("https://arxiv.org", "javascript:alert(1)//"): (8, "an address that begins with https://"),
    ("\n## A row", "\nwords\n## A row"): (11, "expected a step, which begins with ##"),
    ("## A row of weights", "### A row of weights"): (11, "expected ## , and a heading"),
    ("## A row of weights", "## "): (11, "expected ## , and a heading"),
    ("## A row of weights", "## " + "A row " * 8): (11, "expected a heading of at most 40 characters"),
    ("## A row of weights", "## 1 + 1"): (11, "expected a name of small letters, digits and hyphens"),
    ("## Fewer heads", "## A row of weights"): (21, "expected a name that no other step has"),
    ("“was” takes", "<b>was</b> takes"): (12, "expected text alone in words, got what looks like HTML"),
    ("“was” takes", "https://x.org takes"): (12, "expected addresses among the sources alone"),
    ("“was” takes", "was " * 61): (12, "expected at most 60 words in words"),
    ("“was” takes", "w" * 600): (12, "expected at most 480 characters in words"),
    ("Each head is wider then.\n", ""): (21, "expected words between the heading and"),
    ("show: /heads?heads_layer=2\n", ""): (21, "expected show: and a page of the app"),
    ("show: /heads?heads_layer=2", "show: https://example.org/"): (24, "expected show: and a page of the app"),
    ("show: /heads", "sees: /heads"): (21, "expected show: and a page of the app"),
    ("moves: seed", "move: seed"): (25, "expected one of show, name, moves"),
    ("reached: d_k == 16\n", ""): (26, "expected reached beside task, got none"),
    ("task: Make each head sixteen numbers wide.\n", ""): (26, "expected task beside reached, got none"),
    ("reached: d_k == 16", "reached: d_k = 16"): (27, "reached: expected an expression"),
    ("options: number numbers\n", ""): (16, "expected options beside predict, got none"),
    ("options: number numbers", "options: four"): (17, "expected number, text, or two to 6 different answers"),
    ("options: number numbers", "options: four | four"): (17, "expected number, text, or two to 6"),
    ("options: number numbers", "options: text"): (18, "expected nothing to compare free words with"),
    ("measured: d_k\n", ""): (16, "expected measured, or the name of a question in answer"),
    ("{d_k}", "{d_k"): (19, "answer: expected each brace to have its other half"),
    ("{d_k}", "{d_k.real}"): (19, "answer: expected numbers, words in quotes"),
    ("predict: How wide is a head?\n", ""): (16, "expected predict beside options, got none"),
    (SECOND, "\n## Step\nWords.\n\nshow: /\nshow: /\n"): (25, "expected show once"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_a_fault_is_named_with_its_line(old, new):
    assert LESSON.count(old) == 1
    with pytest.raises(FaultyLesson) as raised:
        read(LESSON.replace(old, new), "lesson.md")
    line, part = FAULTS[old, new]
    told = [fault.named("lesson.md") for fault in raised.value.faults]
    assert any(text.startswith(f"lesson.md:{line}: ") and part in text for text in told), told


def test_all_faults_are_named_in_order():
    with pytest.raises(FaultyLesson) as raised:
        read(LESSON.replace("minutes: 5", "minutes: x").replace("## Fewer heads", "## ").replace("d_k ==", "d_k ="))
    lines = [fault.line for fault in raised.value.faults]
    assert lines == sorted(lines)
    assert {3, 21, 27} <= {*lines}


def test_too_many_steps_and_too_many_bytes():
    steps = "".join(f"\n## Step {number}\nWords.\n\nshow: /\n" for number in range(41))
    with pytest.raises(FaultyLesson, match="expected one to 40 steps"):
        read(HEAD + steps)
    with pytest.raises(FaultyLesson, match="expected one to 40 steps"):
        read(HEAD)
    with pytest.raises(FaultyLesson, match="bytes"):
        read(LESSON + "x" * MOST_BYTES)


@given(st.text(max_size=300))
def test_whatever_stands_in_a_file_is_a_lesson_or_has_faults(text):
    for whole in (text, HEAD + text, HEAD + FIRST + text):
        faults = faults_of(whole)
        assert all(fault.line >= 1 and fault.text for fault in faults)
        assert faults or read(whole).steps


def faults_of(text):
    try:
        read(text)
    except FaultyLesson as faulty:
        return faulty.faults
    return []
