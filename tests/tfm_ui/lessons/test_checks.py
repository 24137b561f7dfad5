"""Checks of a lesson against the app: its pages, its links, its names, its answers and its tasks."""

import re
from pathlib import Path

import pytest

from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_ui.lenses import NAMES, lens
from tfm_ui.lessons import checks, expressions, names, reader, shelf
from tfm_ui.lessons.__main__ import main
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.shown import shown
from tfm_ui.state.model_state import ModelState


def faults_of(text):
    return [*checks.faults(read(text), lens, NAMES)]


def test_a_lesson_without_faults():
    assert faults_of(LESSON) == []
    assert [*checks.run(read(LESSON), lens)] == []


FAULTS = {  # a text and what stands for it -> the line, and a part of what is said
    ("/heads?heads_layer=2", "/clinics"): (24, "expected one of the pages /, /heads, /attention"),
    ("heads_layer=2", "heads_layr=2"): (24, "got heads_layr; names like it: heads_layer"),
    ("heads_layer=2", "heads_layer=99"): (
        24,
        "expected a link that needs no correction. The link asked for heads_layer",
    ),
    ("heads_layer=2", "d_model=33"): (24, "expected a link that needs no correction. The link asked for d_model = 33"),
    ("moves: seed", "moves: seeds"): (25, "expected names of the page Heads in moves, got seeds"),
    ("reached: d_k ==", "reached: dk =="): (27, "in reached, got dk"),
    ("measured: d_k", "measured: d_k\nhides: heads"): (19, "in hides, got heads; "),
    ("measured: d_k", "measured: heads_previous_share"): (18, "in measured, got heads_previous_share"),
    ("{d_model:,}", "{d_modl:,}"): (19, "in answer, got d_modl"),
    ("moves: seed", "moves: seed\nexercise: sofmax"): (
        26,
        "expected the name of an exercise, got sofmax; names like it: softmax",
    ),
    ("answer: many-heads", "answer: many-hats"): (28, "expected the name of a question of the page Heads (first-row"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_a_fault_is_named_with_its_line(old, new):
    assert LESSON.count(old) == 1
    line, part = FAULTS[old, new]
    told = faults_of(LESSON.replace(old, new))
    assert [fault.line for fault in told] == [line]
    assert part in told[0].text


def test_a_prediction_is_the_question_s_or_says_what_is_measured():
    asked = LESSON.replace("measured: d_k\n", "").replace("{d_k} of", "of")
    whole = asked.split("answer: Each")[0] + "answer: step-by-step\n" + LESSON.split("numbers.\n")[1]
    assert [fault.text for fault in faults_of(whole)] == [
        "expected measured, as the question step-by-step predicts nothing"
    ]


RUN_FAULTS = {
    ("reached: d_k == 16", "reached: d_k == 8"): "expected a task that is not done when the step opens, and it is",
    ("reached: d_k == 16", "reached: d_k / 0 == 1"): "expected an expression that can be computed",
    ("{d_k} of", "{d_k / 0} of"): "expected an expression that can be computed",
    ("options: number numbers", "options: four | nine"): "expected one of them to be what is measured, 8",
    ("measured: d_k", "measured: next_token"): "expected a number that is measured, got tired",
}


@pytest.mark.parametrize(("old", "new"), RUN_FAULTS)
def test_what_only_a_run_tells(old, new):
    lesson = read(LESSON.replace(old, new))
    assert [*checks.faults(lesson, lens, NAMES)] == []
    told = [*checks.run(lesson, lens)]
    assert len(told) == 1
    assert RUN_FAULTS[old, new] in told[0].text


def test_a_step_is_on_screen_until_something_is_moved_that_it_does_not_leave_to_the_learner():
    _, second = read(LESSON).steps
    this = shown(second, lens)
    model, state = this.model, this.state
    assert this.left_to_learner == {"seed"}  # d_k is measured, and no control
    assert this.is_on_screen(lens("heads"), model, state)
    assert this.is_on_screen(lens("heads"), model.varied(seed=3), state)
    assert not this.is_on_screen(lens("heads"), model.varied(num_heads=2), state)
    assert not this.is_on_screen(lens("heads"), model, type(state)(layer=1))
    assert not this.is_on_screen(lens("attention"), model, state)
    assert not this.is_reached(model, state)
    assert this.is_reached(model.varied(num_heads=2), state)


def test_values_are_those_of_the_screen():
    first, _ = read(LESSON).steps
    this = shown(first, lens)
    assert this.answer(ModelState(), this.state) == "Each head has 8 of the 32 numbers."
    assert this.measured(ModelState(num_heads=8), this.state) == 4


def test_the_command(tmp_path, capsys):
    good, bad, bytes_ = tmp_path / "good.md", tmp_path / "bad.md", tmp_path / "bytes.md"
    good.write_text(LESSON)
    bad.write_text(LESSON.replace("moves: seed", "moves: seeds"))
    bytes_.write_bytes(b"\xff\xfe")
    assert main(["check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: no faults\n"
    assert main(["check", str(good), str(bad), str(bytes_), str(tmp_path / "none.md")]) == 1
    out = capsys.readouterr().out
    assert f"{bad}:25: expected names of the page Heads in moves, got seeds" in out
    assert f"{bytes_}:1: expected text in UTF-8" in out
    assert "none.md:0: expected a file that can be read" in out
    assert main(["names"]) == 0
    assert "d_k: The width of one head" in capsys.readouterr().out


def test_the_lesson_in_the_document_has_no_faults():
    document = (Path(__file__).parents[3] / "docs" / "lessons.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```\n(---\n.*?)```", document, re.DOTALL)
    assert example == shelf.example()  # which the page of the lessons shows
    assert faults_of(example) == []
    assert [*checks.run(read(example), lens)] == []


def test_the_document_names_every_limit_and_every_line():
    document = (Path(__file__).parents[3] / "docs" / "lessons.md").read_text(encoding="utf-8")
    for name in (*reader.OF_LESSON, *reader.OF_STEP, *expressions.FUNCTIONS, *names.OF_MODEL):
        assert f"`{name}`" in document, name
    for limit in (reader.MOST_WORDS["words"], reader.MOST_WORDS["task"], reader.MOST_HEADING, reader.MOST_TITLE):
        assert f"up to {limit}" in document, limit
