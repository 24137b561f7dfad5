"""What the view "learn" says: of runs that come with the app, and of one that has not begun."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.tfm_ui.lenses.training.asking import MODEL, answer, state_of
from tfm_core import TASKS, run_store
from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, FINAL, held_out, probes
from tfm_core.training.run import Point
from tfm_core.training.train import train
from tfm_ui.lenses.training import panels, train_words
from tfm_ui.lenses.training.learn.learned import Learn
from tfm_ui.lenses.training.panels import ABOVE, NOT_YET, before_training
from tfm_ui.lenses.training.runs import LONGEST, config_of, estimate, shown_run, why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures.learn.learned import formed
from tfm_ui.pictures.learn.maps import maps_figure
from tfm_ui.pictures.learn.told import dated, measured_on, smoothed
from tfm_ui.text import formats

UNTRAINED = 4711  # a seed with which nothing comes with the app


def learned(task: str, **more) -> Learn:
    return Learn(MODEL, TrainingState(task=task, **more))


def test_formed_finds_the_head_and_its_largest_rise():
    def point(step: int, *heads: float) -> Point:
        return Point(step, 1.0, 0.5, 0.0, (((heads[0], heads[1]), (heads[2], heads[3])),))

    points = [point(0, 0.1, 0.1, 0.1, 0.2), point(4, 0.1, 0.2, 0.3, 0.1), point(8, 0.1, 0.2, 0.9, 0.1)]
    mirror = TASKS["reverse"].patterns[0]
    head = formed(points, 0, mirror)
    assert (head.layer, head.head, head.before, head.after) == (2, 1, 4, 8)
    assert (head.low, head.high, head.score) == (0.3, 0.9, 0.9)
    assert formed([Point(0, 1.0, 0.5, 0.0)], 0, mirror) is None


def test_the_sentence_of_reverse_names_the_head_and_when_it_formed():
    panel = learned("reverse")
    text = panel.sentence()
    (head,) = panel.heads
    assert f"from step {head.before}" not in text
    assert f"rose most between steps {head.before} and {head.after}" in text
    assert f"After 400 steps 100% of the answers to {FINAL:,} held-out examples are right" in text
    curve = {point.step: point.scores[0][0][0] for point in panel.run.points}
    steps = sorted(curve)
    rises = {after: curve[after] - curve[before] for before, after in pairwise(steps)}
    assert max(rises, key=lambda step: rises[step]) == head.after


@pytest.mark.parametrize("task", [name for name, task in TASKS.items() if not task.classes])
def test_laws_hold_before_and_after(task):
    for seed in (0, UNTRAINED):
        panel = learned(task, seed=seed)
        assert all(panel.laws().values()), panel.laws()
        assert panel.sentence()
        assert len(panel.table()) == len(panel.run.points)


def test_nothing_is_trained_yet_is_said():
    panel = learned("reverse", seed=UNTRAINED)
    assert not panel.run.done
    assert "Nothing is trained yet" in panel.sentence()
    assert answer("Reverse", seed=UNTRAINED) == NOT_YET


def test_the_picture_holds_the_run_and_the_answers_of_its_own_example():
    config = of_task("reverse")
    run = run_store().find(config)
    for probe in (0, 1):
        header, numbers = learned("reverse", probe=probe + 1).picture()
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
    text = answer("Induction")
    assert "Head 1 of layer 2" in text
    assert "Head 1 of layer 1" in text
    assert "only then can layer 2 look" in text


def test_majority_is_even_and_brackets_are_not_readable():
    assert "evenness 0.9" in answer("Majority")
    assert "no head looks clearly" in answer("Brackets")
    assert "An average over all tokens" not in answer("Majority", task="reverse")


def test_too_fast_really_diverges_and_the_answer_says_so():
    run = list(train(config_of(state_of("Too fast"))))[-1].run
    assert run.problem.startswith("It diverged")
    run_store().keep(run)
    assert answer("Too fast") == run.problem
    assert answer("Too fast", rate="auto").startswith("It did not diverge")


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
    assert learned("reverse").shape == "3,824 parameters"


def stopped(steps: int):
    """A run that was stopped at a step at which nothing was measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)
        reports = train(of_task("reverse", seed=UNTRAINED, steps=400))
        run = next(report.run for report in reports if report.run.done == steps)
        reports.close()
    return run


def test_numbers_of_a_stopped_run_are_dated_by_the_step_at_which_they_were_measured():
    part = learned("reverse", seed=UNTRAINED)
    part.run = stopped(27)
    point = part.run.last
    assert point.step == 25
    text = part.sentence()
    assert f"After 25 steps {formats.percent(point.accuracy)} of the answers to {EVALUATED} held-out examples" in text
    assert "By now 27 steps are made; step 25 was measured last." in text
    header, _ = part.picture()
    assert header["snapshots"][-1] == 25
    assert header["told"][-1].startswith(f"{formats.percent(point.accuracy)} right · loss {formats.number(point.loss)}")
    assert header["told"][-1].endswith(f"on {EVALUATED} examples")
    assert not dated(shown_run(of_task("reverse")))


def test_only_the_last_point_of_a_run_that_has_ended_is_of_many_examples():
    run = shown_run(of_task("reverse"))
    assert [measured_on(run, point) for point in run.points[-2:]] == [EVALUATED, FINAL]
    part = stopped(27)
    assert {measured_on(part, point) for point in part.points} == {EVALUATED}
    authors = shown_run(of_task("authors"))
    assert measured_on(authors, authors.last) == len(held_out(authors.config, FINAL)) < FINAL


@pytest.mark.parametrize(("steps", "most"), [(0, 60), (1, 60), (9, 60), (400, 400), (401, 400), (1500, 60)])
def test_each_point_of_the_line_of_training_losses_is_the_mean_of_equally_many_steps(steps, most):
    losses = torch.rand(steps, generator=torch.Generator().manual_seed(1))
    ends, means, every = smoothed(losses, most)
    assert len(ends) <= most
    assert ends[-1:] == ([steps] if steps else [])
    assert every >= min(10, steps)
    for end, mean in zip(ends, means, strict=True):
        assert mean == pytest.approx(float(losses[end - every : end].mean()))
        assert end >= every


def test_the_table_has_the_training_loss():
    panel = learned("reverse")
    column = panel.table()["training loss, mean since the row above"]
    assert np.isnan(column.iloc[0])
    step, before = panel.table().index[-1], panel.table().index[-2]
    assert column.iloc[-1] == pytest.approx(float(panel.run.losses[before:step].mean()))


def test_a_run_that_is_under_way_is_not_called_untrained(monkeypatch):
    state = TrainingState(seed=UNTRAINED)
    assert Learn.badge(MODEL, state) == "○ Random weights: not trained yet"
    monkeypatch.setattr(panels, "is_under_way", lambda config: True)
    assert Learn.badge(MODEL, state) == "◐ Being trained on reverse · seed 4711 · 1 × 1"


def test_steps_a_second_are_steps_by_the_seconds_that_are_told():
    run = replace(shown_run(of_task("reverse")), seconds=2.0, stepping=1.0)
    assert train_words.before(run.config, run, None) == "Trained: 400 steps in 2.0 s, 200 steps a second."


def test_the_facts_say_how_it_is_trained():
    """The textbook's set-up is Adam at a constant rate, without warm-up and clipping; others are as they were."""
    textbook, induction = (Learn.facts(MODEL, TrainingState(task=task)).text for task in ("textbook", "induction"))
    assert "relu; Adam with β 0.9 and 0.999, learning rate 0.001, constant; gradients as they are" in textbook
    assert "warm-up" not in textbook
    assert induction.startswith("decoder-only, ")
    assert "after 50 steps of warm-up, falling with 1/√step from step 200 on; gradients cut to a norm of 1" in induction


# what is said of the loss before training, beside torch's own cross-entropy of even guesses


def laws_of(task: str, loss: float) -> dict[str, bool]:
    return dict(before_training(TASKS[task], Point(0, loss, 0.5, 0.5)))


@pytest.mark.parametrize("name", TASKS)
def test_the_loss_before_training_is_compared_with_even_guesses_among_all_that_the_output_can_say(name):
    outcomes = TASKS[name].outcomes
    evenly = float(F.cross_entropy(torch.zeros(1, outcomes), torch.tensor([0])))
    ((law, holds),) = laws_of(name, evenly + 0.4).items()
    assert holds
    assert f"guessing evenly among the {formats.count(outcomes)} " in law
    assert f"= {formats.number(evenly)}" in law
    assert not any(laws_of(name, evenly + ABOVE + 0.1).values())
    assert not before_training(TASKS[name], Point(25, evenly, 0.5, 0.5))  # not before


def test_labels_that_are_token_ids_are_told_apart_from_all_token_ids():
    assert list(laws_of("authors", 7.6)) == [
        "before training the loss is 7.600, at most 0.5 above that of guessing: guessing evenly among the 2,006 token "
        "ids, of which 3 are labels, gives ln 2,006 = 7.604"
    ]
    (of_classes,) = laws_of("textbook", 1.1)
    assert "among the 3 classes gives ln 3 = 1.099" in of_classes
