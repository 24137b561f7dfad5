"""What the view "learn" says: of runs that come with the app, and of one that has not begun."""

from itertools import pairwise

import numpy as np
import pytest

from tfm_core import STORE, TASKS
from tfm_core.training.config import of_task
from tfm_core.training.examples import probes
from tfm_core.training.run import Point
from tfm_ui.lenses.training.learn import answers
from tfm_ui.lenses.training.learn.numbers import Learned, formed
from tfm_ui.lenses.training.learn.pictures import content, maps_figure
from tfm_ui.lenses.training.learn.questions import QUESTIONS
from tfm_ui.lenses.training.runs import LONGEST, config_of, estimate, shown_run, size_of, why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
BY_NAME = {question.name: question for question in QUESTIONS}
UNTRAINED = 4711  # a seed with which nothing comes with the app


def learned(task: str, **more) -> Learned:
    config = config_of(TrainingState(task=task, **more))
    return Learned(config, shown_run(config))


def answered(name: str, **other) -> str:
    question = BY_NAME[name]
    return question.answer(MODEL, TrainingState(**{**question.page, **other}))


def test_formed_finds_the_head_and_its_largest_rise():
    def point(step: int, *heads: float) -> Point:
        return Point(step, 1.0, 0.5, 0.0, (((heads[0], heads[1]), (heads[2], heads[3])),))

    points = [point(0, 0.1, 0.1, 0.1, 0.2), point(4, 0.1, 0.2, 0.3, 0.1), point(8, 0.1, 0.2, 0.9, 0.1)]
    head = formed(points, 0, "mirror")
    assert (head.layer, head.head, head.before, head.after) == (2, 1, 4, 8)
    assert (head.low, head.high, head.score) == (0.3, 0.9, 0.9)
    assert formed([Point(0, 1.0, 0.5, 0.0)], 0, "mirror") is None


def test_the_sentence_of_reverse_names_the_head_and_when_it_formed():
    shown = learned("reverse")
    text = shown.sentence()
    (head,) = shown.heads
    assert f"from step {head.before}" not in text
    assert f"rose most between steps {head.before} and {head.after}" in text
    assert "100% of the held-out answers are right" in text
    curve = {point.step: point.scores[0][0][0] for point in shown.run.points}
    steps = sorted(curve)
    rises = {after: curve[after] - curve[before] for before, after in pairwise(steps)}
    assert max(rises, key=lambda step: rises[step]) == head.after


@pytest.mark.parametrize("task", [name for name, task in TASKS.items() if not task.classes])
def test_laws_hold_before_and_after(task):
    for seed in (0, UNTRAINED):
        shown = learned(task, seed=seed)
        assert all(shown.laws().values()), shown.laws()
        assert shown.sentence()
        assert len(shown.table()) == len(shown.run.points)


def test_nothing_is_trained_yet_is_said():
    shown = learned("reverse", seed=UNTRAINED)
    assert not shown.is_begun
    assert "Nothing is trained yet" in shown.sentence()
    assert answered("Reverse", seed=UNTRAINED) == answers.NOT_YET


def test_the_picture_holds_the_run_and_the_answers_of_its_own_example():
    config = of_task("reverse")
    run = STORE.find(config)
    for probe in (0, 1):
        header, numbers = content(config, run, probe, live=False)
        maps = numbers.reshape(len(header["snapshots"]), 10, 10)
        np.testing.assert_array_equal(maps, run.maps["layers.0.self_attention.weights"][:, probe, 0].numpy())
        assert header["asked"] == header["source"][::-1] == header["said"][-1]
        assert header["source"] == [TASKS["reverse"].vocabulary[i - 1] for i in probes(config).source[probe].tolist()]
        mirror = np.fliplr(np.eye(10, dtype=bool))
        assert sorted(map(tuple, header["patterns"][0]["cells"])) == sorted(zip(*np.nonzero(mirror), strict=True))
        assert maps[-1][mirror].mean() > 0.9
        assert maps[0][mirror].mean() < 0.3
        assert header["complete"]
        assert not header["live"]
        assert len(maps_figure(header, numbers).data) >= 1


def test_induction_has_its_two_heads_in_this_order():
    text = answered("Induction")
    assert "Head 1 of layer 2" in text
    assert "Head 1 of layer 1" in text
    assert "only then can layer 2 look" in text


def test_majority_is_even_and_brackets_are_not_readable():
    assert "evenness 0.9" in answered("Majority")
    assert "no head looks clearly" in answered("Brackets")
    assert "An average over all tokens" not in answered("Majority", task="reverse")


def test_too_fast_really_diverges_and_the_answer_says_so():
    from tfm_core.training.train import train

    question = BY_NAME["Too fast"]
    state = TrainingState(**question.page)
    run = list(train(config_of(state)))[-1].run
    assert run.problem.startswith("It diverged")
    STORE.keep(run)
    assert answered("Too fast") == run.problem
    assert answered("Too fast", rate="auto").startswith("It did not diverge")


def test_auto_is_the_task_and_every_setting_arrives():
    assert config_of(TrainingState(task="induction")) == of_task("induction")
    state = TrainingState(task="copy", layers=2, heads=4, width=64, rate=0.003, dropout=0.1, steps=200, seed=9)
    assert config_of(state) == of_task(
        "copy", num_layers=2, num_heads=4, d_model=64, learning_rate=0.003, dropout=0.1, steps=200, seed=9
    )


def test_estimates_grow_and_what_is_too_long_is_refused():
    small, large = of_task("reverse"), of_task("reverse", num_layers=4, d_model=128)
    assert 0 < estimate(small) < estimate(large)
    state = TrainingState(task="sort", layers=4, width=128, steps=6000, batch=256)
    assert estimate(config_of(state)) > LONGEST
    assert "the most that a run may take here" in why_not(state)
    assert size_of(small) == 3824
