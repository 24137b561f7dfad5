"""Training against a loop written by hand, and what comes out of it."""

import math
from itertools import combinations, repeat

import pytest
import torch
import torch.nn.functional as F

from tests.tfm_core.training.runs import same_numbers, small, to_the_end
from tfm_core.training.config import of_task, read_name
from tfm_core.training.examples import EVALUATED, batches, held_out
from tfm_core.training.networks import network
from tfm_core.training.schedule import RISE, is_point, is_snapshot, rate
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.train import train, untrained

LONGEST = 0.1  # gradients short enough for some of the few steps to be cut


@pytest.mark.parametrize(
    "name", [*(f"{task},seed={seed}" for task in TASKS for seed in range(3)), "textbook,pooling=first"]
)
def test_it_begins_near_guessing(name):
    config = read_name(name)
    model, examples = network(config).eval(), held_out(config, EVALUATED)
    with torch.no_grad():
        logits = model(*examples.inputs)
    loss = F.cross_entropy(logits.flatten(0, -2), examples.answers.flatten(), ignore_index=-100).item()
    assert loss <= math.log(logits.shape[-1]) + 0.5
    assert logits.shape[-1] == config.about.outcomes
    first = untrained(config)
    assert first.points[0].loss == pytest.approx(loss, abs=1e-6)
    assert (first.done, first.snapshots) == (0, (0,))


HARD = {"warmup": 3, "learning_rate": 0.05, "weight_decay": 0.1, "clip": LONGEST, "beta2": 0.98}


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("reverse", HARD),
        ("induction", HARD | {"num_layers": 2}),
        ("sort-decoder", HARD),
        ("copy", HARD | {"network": "lstm"}),
        ("textbook", HARD | {"batch_size": 8}),
        ("textbook", {"batch_size": 8}),  # as it comes: a constant rate, gradients as they are
    ],
)
def test_five_steps_are_those_of_a_loop_by_hand(task, changes):
    config = small(task, steps=5, dropout=0.0, **changes)
    run = to_the_end(config)
    torch.manual_seed(99)  # of which nothing may depend
    model = network(config)
    adam = {"lr": 1.0, "betas": (0.9, changes.get("beta2", 0.999)), "eps": 1e-8}
    optimizer = torch.optim.AdamW(model.parameters(), **adam, weight_decay=changes.get("weight_decay", 0.0))
    losses, cut = [], 0
    is_sure = {name: torch.ones_like(parameter, dtype=torch.bool) for name, parameter in model.named_parameters()}
    for step, examples in zip(range(1, 6), batches(config), strict=False):
        optimizer.param_groups[0]["lr"] = rate(config, step) if "warmup" in changes else 1e-3
        optimizer.zero_grad()
        logits = model(*examples.inputs)
        asked = examples.answers != -100
        loss = -logits.log_softmax(-1)[asked].gather(1, examples.answers[asked][:, None]).mean()
        loss.backward()
        norm = torch.stack([parameter.grad.norm() for parameter in model.parameters()]).norm()
        cut += int(norm > LONGEST)
        for name, parameter in model.named_parameters():
            # Where the gradient is 0 but for rounding, as that of keys' biases, Adam makes a step of the rounding.
            is_sure[name] &= parameter.grad.abs() > 1e-4
            parameter.grad *= min(1, LONGEST / norm) if "clip" in changes else 1
        optimizer.step()
        losses.append(loss.item())
    assert run.losses.tolist() == pytest.approx(losses, abs=1e-5)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(
            run.weights[name][is_sure[name]], parameter.detach()[is_sure[name]], atol=1e-5, rtol=1e-4
        )
    assert sum(int(sure.sum()) for sure in is_sure.values()) > 100
    assert cut


def test_the_same_configuration_gives_the_same_run_and_another_seed_another():
    config = small(dropout=0.2)
    run = to_the_end(config)
    torch.manual_seed(5)
    torch.rand(7)
    same_numbers(to_the_end(config), run)
    assert not torch.equal(to_the_end(small(dropout=0.2, seed=1)).losses, run.losses)


def test_training_moves_no_random_numbers_of_others():
    state = torch.get_rng_state()
    to_the_end(small(dropout=0.2))
    assert torch.equal(torch.get_rng_state(), state)


def test_dropout_is_another_at_each_step(monkeypatch):
    """The same examples again and again, and a rate too small to change anything: what differs is dropout."""
    monkeypatch.setattr("tfm_core.training.train.batches", lambda config, _: repeat(next(batches(config))))
    quiet = {"learning_rate": 1e-6, "weight_decay": 0.0, "steps": 4}
    plain, dropped = (to_the_end(small(dropout=share, **quiet)).losses for share in (0.0, 0.5))
    assert plain.max() - plain.min() < 1e-4
    assert all(abs(one_step - other) > 1e-3 for one_step, other in combinations(dropped.tolist(), 2))


@pytest.mark.parametrize("task", ["reverse", "reverse-decoder", "textbook"])
@pytest.mark.parametrize("steps", [1, 7, 30])
def test_what_a_run_holds(task, steps):
    config = small(task, steps=steps)
    run = to_the_end(config)
    assert run.is_complete
    assert run.done == len(run.losses) == steps
    assert [point.step for point in run.points] == [*filter(is_point, range(steps)), steps]
    assert {*filter(is_snapshot, range(steps)), steps} <= set(run.snapshots) <= {point.step for point in run.points}
    assert sorted(set(run.snapshots)) == list(run.snapshots)
    length = config.about.length
    for name, maps in run.maps.items():
        assert maps.shape == (len(run.snapshots), 2, 1, length, length)
        torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]), msg=name)
    assert run.said.shape[:2] == (len(run.snapshots), 2)
    sites = {"reverse": 1, "reverse-decoder": 3, "textbook": 1}
    assert len(run.maps) == sites[task]
    assert run.optimizer.keys() == {f"{name}.{what}" for name in run.weights for what in ("exp_avg", "exp_avg_sq")}
    assert run.made_with == f"torch {torch.__version__}"
    assert 0 < run.stepping <= run.seconds
    for point in run.points:
        assert len(point.scores) == len(config.about.patterns)
        assert all(0 <= head <= 1 for pattern in point.scores for layer in pattern for head in layer)


def test_reports_say_how_far_it_is(monkeypatch):
    monkeypatch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)
    reports = list(train(small(steps=6)))
    assert [report.share for report in reports] == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    assert [report.doing for report in reports[:2]] == ["step 1 of 6", "step 2 of 6"]
    assert (reports[-1].doing, reports[-1].seconds_left) == ("done", 0)
    assert [report.run.done for report in reports] == [1, 2, 3, 4, 5, 6]
    assert all(report.seconds_left > 0 for report in reports[:-1])
    assert not any(report.run.is_complete for report in reports[:-1])


def test_the_first_report_comes_at_once():
    first = next(train(small(steps=400)))
    assert first.run.done == 1
    assert first.run.points[0].step == 0


def test_a_report_stays_as_it_is_while_training_goes_on(monkeypatch):
    monkeypatch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)
    reports = train(small(steps=6))
    first = next(reports)
    weights = {name: value.clone() for name, value in first.run.weights.items()}
    remembered = {name: value.clone() for name, value in first.run.optimizer.items()}
    list(reports)
    assert all(torch.equal(first.run.weights[name], weights[name]) for name in weights)
    assert all(torch.equal(first.run.optimizer[name], remembered[name]) for name in remembered)


def test_a_small_run_learns_to_reverse():
    """The default settings reach 99 % of 2,048 held-out sequences' digits, and the head looks at the mirror."""
    run = to_the_end(of_task("reverse"))
    assert run.last.accuracy >= 0.99
    assert run.last.scores[0][0][0] >= 0.9
    assert run.points[0].scores[0][0][0] < 0.3
    weights = run.maps["layers.0.self_attention.weights"][-1, 0, 0]
    assert (weights.argmax(-1) == torch.arange(9, -1, -1)).sum() >= 9


def test_random_labels_are_not_learned():
    """There is nothing to learn: about a third of the held-out labels are right, whatever the network does."""
    run = to_the_end(small("textbook-random", steps=40, learning_rate=1e-3))
    assert abs(run.last.accuracy - 1 / 3) < 4 * (2 / 9 / 1000) ** 0.5


def test_attention_is_kept_where_answers_become_right():
    """It holds between two snapshots of the log axis too: no new best of the curve is far above the last one kept."""
    run = to_the_end(of_task("reverse", steps=150))
    kept, rises = -1.0, []
    for point in run.points[:-1]:
        if point.step in run.snapshots:
            rises += [point.step] if not is_snapshot(point.step) else []
            kept = max(kept, point.accuracy)
        assert point.accuracy < kept + RISE or point.step in run.snapshots
    assert rises
    assert len(rises) <= 1 / RISE
    same_numbers(to_the_end(of_task("reverse", steps=150), to_the_end(of_task("reverse", steps=75))), run)
