"""Whole runs: in order, stopped in the middle, with rows that fail."""

import math

import pytest
import torch
from torch import nn

from tests.tfm_core.profiling.small import OPEN, SHUT, SIZE, plan_of
from tfm_core.profiling import TARGETS, Row, Setup, Size, clock, machine, parts, profile, run, run_subject
from tfm_core.profiling.run_subject import Bench, Subject
from tfm_core.profiling.targets import Target

pytestmark = pytest.mark.usefixtures("quick")
THREE = ("with weights", "LSTM", "without weights")


class Failing(nn.Linear):
    """A model that fails in the n-th pass."""

    def __init__(self, last: int, error: Exception):
        super().__init__(SIZE.d_model, SIZE.d_model)
        self.left, self.error = last, error

    def forward(self, x):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return super().forward(x)


def enter(monkeypatch, name, build):
    forms = TARGETS["with weights"].forms
    monkeypatch.setitem(TARGETS, name, Target(lambda size, seed=0: build(), forms, "", ""))


def test_all_rows_have_a_turn_in_every_round():
    steps = list(profile(plan_of(*THREE, rounds=4), OPEN))
    report = steps[-1].report
    assert report.complete
    assert report.gate == "pressure"
    assert tuple(measured.row for measured in report.measured) == report.plan.rows
    for measured in report.measured:
        for blocks in (measured.forward, measured.training):
            assert blocks.rounds == (0, 1, 2, 3)
            assert min(blocks.seconds) > 0
            assert len(blocks.warm_up) >= clock.WARM_UP[0]
        assert measured.memory.allocated
        assert measured.training_memory.allocated > measured.memory.allocated
        assert measured.parts
        assert not measured.problem
    assert report.blocks == (24, 0)
    assert report.machine.flops_per_second > 0 < report.machine.bytes_per_second


def test_progress_grows_and_each_report_on_the_way_is_whole():
    steps = list(profile(plan_of(*THREE), OPEN))
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert (shares[-1], steps[-1].seconds_left) == (1, 0)
    assert all(step.seconds_left >= 0 and step.doing for step in steps)
    assert len({step.report.id for step in steps}) == 1
    assert [step.report.complete for step in steps] == [False] * (len(steps) - 1) + [True]
    reached = [len(step.report.measured) for step in steps]
    assert reached == sorted(reached)
    assert {"round 1 of 3", "round 3 of 3"} <= {step.doing for step in steps}


def test_between_steps_torch_is_as_it_was():
    before = torch.get_num_threads(), torch.get_rng_state().tolist()
    for _ in profile(plan_of("without weights", threads=2, rounds=1), OPEN):
        assert (torch.get_num_threads(), torch.get_rng_state().tolist()) == before
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()


def test_parts_are_tried_again_when_there_is_room(monkeypatch):
    class Slackening:
        """A gate that opens when a run is under way."""

        kind, calls = "pressure", 0

        def around(self, block):
            self.calls += 1
            return block(), float(self.calls < parts.MOST_PASSES + 10)

    *_, last = profile(plan_of("with weights", rounds=9, backward=False), Slackening())
    (measured,) = last.report.measured
    assert measured.forward.contended
    assert measured.forward.seconds
    assert measured.parts
    assert not measured.parts_under_load


def test_stopped_in_the_middle_what_was_measured_stands():
    running = profile(plan_of(*THREE, rounds=30), OPEN)
    stopped = next(step for step in running if step.doing == "round 4 of 30")
    running.close()
    counts = {len(measured.forward.seconds) for measured in stopped.report.measured}
    assert counts <= {3, 4}
    assert not stopped.report.complete
    assert stopped.report.machine.flops_per_second > 0
    assert 0 < stopped.share < 1
    assert list(running) == []


def test_stopped_before_the_rounds_rows_have_no_figures():
    running = profile(plan_of(*THREE), OPEN)
    stopped = next(step for step in running if "row 2 of 3" in step.doing)
    running.close()
    assert [measured.row.target for measured in stopped.report.measured] == ["with weights"]
    assert math.isnan(stopped.report.measured[0].forward.median)


def test_where_no_block_is_clean_all_of_them_count_and_it_is_said():
    *_, last = profile(plan_of("with weights", rounds=3), SHUT)
    (measured,) = last.report.measured
    tries = measured.forward.contended, measured.training.contended
    assert all(3 <= each <= 3 * clock.TRIES for each in tries)
    assert measured.forward.seconds == measured.training.seconds == ()
    assert set(measured.forward.sample) == {0, 1, 2}
    assert len(measured.forward.loaded) == measured.forward.contended
    assert measured.under_load == ("forward", "forward + backward", "parts")
    assert measured.parts
    assert last.report.machine.flops_per_second > 0
    assert last.report.machine.under_load
    assert last.report.under_load
    assert last.report.blocks == (sum(tries), sum(tries))


def test_a_row_that_is_too_large_for_the_memory_says_so_and_the_others_stand():
    huge = Size(d_model=2**21, num_heads=1, num_layers=1, seq_len=1, batch=1)  # 200 TB of weights
    plan = run.Plan((Row("with weights", huge), Row("with weights", SIZE)), Setup(rounds=2))
    *_, last = profile(plan, OPEN)
    too_large, other = last.report.measured
    assert too_large.problem.startswith("out of memory")
    assert too_large.forward.seconds == ()
    assert len(other.forward.seconds) == 2
    assert last.report.complete


@pytest.mark.parametrize("passes", [0, 2, 10, 40])
@pytest.mark.parametrize(
    ("error", "words"), [(MemoryError(), "out of memory"), (RuntimeError("not implemented for 'Half'\nat"), "Half'")]
)
def test_a_row_that_fails_whenever_it_does(passes, error, words, monkeypatch):
    enter(monkeypatch, "failing", lambda: Failing(passes, error))
    *_, last = profile(plan_of("failing", "with weights", rounds=2), OPEN)
    failed, other = last.report.measured
    assert failed.problem.endswith(words)
    assert not other.problem
    assert len(other.training.seconds) == 2


@pytest.mark.parametrize("passes", [0, 20])
def test_a_row_that_fails_only_in_training_keeps_its_forward_figures(passes, monkeypatch):
    class FailingToLearn(Failing):
        def forward(self, x):
            return super().forward(x) if self.training else nn.Linear.forward(self, x)

    enter(monkeypatch, "failing", lambda: FailingToLearn(passes, MemoryError()))
    *_, last = profile(plan_of("failing", rounds=9), OPEN)
    (measured,) = last.report.measured
    assert measured.problem == "forward + backward: out of memory"
    assert measured.forward.rounds == tuple(range(9))
    assert len(measured.training.seconds) < 9
    assert measured.memory.allocated
    assert measured.parts
    assert last.report.complete


def test_gradients_of_a_pass_that_failed_are_gone():
    subject = Subject(Row("with weights", SIZE), Setup())
    subject.x.register_hook(lambda _: 1 / 0)  # the last gradient of all
    with subject.mode("training"), pytest.raises(ZeroDivisionError):
        subject.call("training")()
    assert all(tensor.grad is None for tensor in (subject.x, *subject.module.parameters()))


def test_rows_that_cannot_run_here_are_not_built(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    steps = list(profile(plan_of("with weights", "no such", device="cuda"), OPEN))
    assert [bool(measured.problem) for measured in steps[-1].report.measured] == [True, True]
    assert "CUDA" in steps[-1].report.measured[0].problem
    assert steps[-1].report.complete
    assert steps[-1].seconds_left == 0


def test_limits_that_cannot_be_measured_are_not_known(monkeypatch):
    def refuse(setup):
        raise RuntimeError("not implemented for 'Half'")

    monkeypatch.setattr(machine, "peaks", refuse)
    *_, last = profile(plan_of("with weights", rounds=2), OPEN)
    assert math.isnan(last.report.machine.bytes_per_second)
    assert len(last.report.measured[0].forward.seconds) == 2


def test_what_does_not_fit_beside_the_others_is_built_anew_and_is_the_same(monkeypatch):
    row = Row("LSTM", SIZE)
    kept = Bench(Setup(seed=3))
    assert kept.subject(0, row) is kept.subject(0, row)
    kept.drop(0)
    monkeypatch.setattr(run_subject, "KEPT_BYTES", {"cpu": 0})
    bench = Bench(Setup(seed=3))
    first, again = bench.subject(0, row), bench.subject(0, row)
    assert first is not again
    torch.testing.assert_close(first.module(first.x), again.module(again.x), atol=0, rtol=0)
    other = Subject(row, Setup(seed=4))
    assert not torch.equal(first.x, other.x)
    *_, last = profile(plan_of("LSTM", rounds=2), OPEN)
    assert len(last.report.measured[0].forward.seconds) == 2


def test_gradients_are_gone_after_each_call():
    subject = Subject(Row("with weights", SIZE), Setup(dtype="float64"))
    with subject.mode("training"):
        subject.call("training")()
        assert subject.module.training
        assert all(parameter.grad is None for parameter in subject.module.parameters())
    with subject.mode("forward"):
        output = subject.call("forward")()
        assert output.is_inference()
        assert not subject.module.training
        assert output.dtype == torch.float64
