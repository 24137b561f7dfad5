"""What the questions of the views "compare" and "lengths" take for granted, and what they say of other outcomes."""

import pytest

from tests.tfm_core.training.comparisons import comparison
from tfm_core import TASKS
from tfm_core.training.folder import SHIPPED, Folder
from tfm_core.training.lengths import lengths_of
from tfm_core.training.outcomes import OUTCOMES
from tfm_ui.lenses.training.compare.layers import WHY
from tfm_ui.lenses.training.compare.questions import NOTHING, VERDICTS
from tfm_ui.lenses.training.compare.questions import QUESTIONS as OF_COMPARE
from tfm_ui.lenses.training.lengths.questions import QUESTIONS as OF_LENGTHS
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

QUESTIONS = {question.name: question for question in (*OF_COMPARE, *OF_LENGTHS)}
MODEL = ModelState()


@pytest.fixture(autouse=True)
def only_shipped(monkeypatch, tmp_path):
    """The comparisons that come with the app, whatever was computed on this machine."""
    monkeypatch.setattr(OUTCOMES.shelf, "place", Folder(tmp_path))
    monkeypatch.setattr(OUTCOMES, "shipped", SHIPPED)
    monkeypatch.setattr(OUTCOMES, "_memory", {})


def answer(name: str) -> str:
    question = QUESTIONS[name]
    return question.answer(MODEL, TrainingState(**question.page))


def test_reversing_takes_absolute_positions():
    assert "a single layer must be told where a token stands" in answer("Who can reverse?")


def test_of_brackets_three_seeds_do_not_show_who_learns_them_better():
    question = QUESTIONS["Is attention ahead?"]
    assert question.predict
    assert question.predict.measured(MODEL, TrainingState(**question.page)) == "neither"
    assert "no difference that 3 seeds and 2,048 examples can show" in answer("Is attention ahead?")
    assert "is ahead" not in answer("Is attention ahead?")


def test_induction_takes_two_layers():
    said = answer("One layer or two?")
    assert said.endswith(WHY)
    shown = comparison_of("induction")
    assert shown
    rights = {entry.config.num_layers: entry.median("accuracy") for entry in shown.entries[:1]}
    single = next(
        entry for entry in shown.entries if entry.config.network == "transformer" and entry.config.num_layers == 1
    )
    assert rights[2] > 0.99
    assert single.median("accuracy") < 0.5


@pytest.mark.parametrize("name", [question.name for question in OF_LENGTHS])
def test_lengths_are_those_of_the_question(name):
    question = QUESTIONS[name]
    task = question.page["task"]
    assert "not defined beyond" in answer(name)
    first, last = lengths_of(comparison_of(task).base)[:: len(lengths_of(comparison_of(task).base)) - 1]
    numbers = {"induction": ("32", "128"), "majority": ("21", "87"), "reverse": ("Ten", "sixteen")}[task]
    assert all(number in question.ask for number in numbers)
    if task == "induction":
        assert (str(first), str(last)) == numbers
    if task == "majority":
        assert (str(first - 1), str(last - 1)) == numbers  # beside CLS
    if task == "reverse":
        assert lengths_of(comparison_of(task).base)[:2] == (10, 16)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("task", TASKS)
def test_each_answer_holds_of_every_task_computed_or_not(name, task):
    question = QUESTIONS[name]
    state = TrainingState(**{**question.page, "task": task})
    said = question.answer(MODEL, state)
    assert said.endswith(".") or said == NOTHING
    if question.predict:
        assert question.predict.measured(MODEL, state) in VERDICTS


def test_the_verdict_is_that_of_what_came_out(monkeypatch):
    question = QUESTIONS["Is attention ahead?"]
    state = TrainingState(**question.page)
    for rights, expected in (
        ({"learned": [0.9] * 3, "lstm": [0.1] * 3}, "a transformer"),
        ({"learned": [0.1] * 3}, "neither"),
    ):
        monkeypatch.setattr(OUTCOMES, "_memory", {"brackets": (comparison(rights, "brackets"), None)})
        assert question.predict.measured(MODEL, state) == expected
