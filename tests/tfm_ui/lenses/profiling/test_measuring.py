"""What is told of a measurement: what it is estimated to take here, and what came of it."""

import math
import time
from dataclasses import replace

import pytest
import torch
from torch.utils.benchmark import Timer

from tests.tfm_ui.lenses.profiling.reports import plan as plan_of_link
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.store.empty import empty_store
from tfm_core.profiling import DEFAULT_SIZES, Blocks, Machine, Memory, Plan, Progress, Report, Row, Setup, Size
from tfm_ui.jobs.job import JobStatus
from tfm_ui.lenses.profiling import measure_words
from tfm_ui.lenses.profiling import plan as budget
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live import measurements as in_store
from tfm_ui.state.model_state import ModelState


def plan(**setup) -> Plan:
    return Plan(tuple(Row("with weights", size) for size in DEFAULT_SIZES), Setup(**setup))


def test_the_lengths_of_a_link_stay_whatever_was_measured_since():
    state, model = ProfilingState(view="length"), ModelState()
    before, needed = plan_of(model, state), budget.needs(plan())
    slow = Machine(device="", processor="", cores=1, system="", torch="", flops_per_second=1e3, bytes_per_second=1e3)
    with empty_store(in_store):
        measurements.keep(Report(id="slow", plan=before, machine=slow))
        assert plan_of(model, state) == before
        assert budget.needs(plan()) == needed
    assert not budget.refused(before)


def test_a_glance_tells_how_fast_this_machine_is_and_leaves_torch_as_it_was():
    threads = torch.get_num_threads()
    machine = budget._machine(Setup(threads=2))
    assert machine.flops_per_second == 2 * budget._machine(Setup()).flops_per_second > 0
    assert math.isnan(budget._machine(Setup(device="cuda")).flops_per_second)
    assert torch.get_num_threads() == threads
    assert budget.needs(plan(rounds=30)).seconds > budget.needs(plan(rounds=3)).seconds > 0


def test_a_glance_at_the_processor_waits_for_no_gpu(monkeypatch):
    """Where there is one, torch's own clock waits for it, which fails in a worker that was forked."""
    clocks = []
    monkeypatch.setattr(budget, "Timer", lambda *args, **more: clocks.append(more.get("timer")) or Timer(*args, **more))
    budget._glance.cache_clear()
    assert budget._machine(Setup()).flops_per_second > 0
    assert clocks == [time.perf_counter]


def test_what_is_too_much_is_refused_and_what_is_let_in_has_a_limit_beyond_its_estimate():
    huge = Plan((Row("with weights", Size(d_model=1024, num_heads=16, num_layers=8, seq_len=20_000)),))
    assert "the limit is" in budget.refused(huge)
    small = Plan((Row("with weights", Size(d_model=8, num_heads=1, num_layers=1, seq_len=4)),), Setup(rounds=3))
    assert not budget.refused(small)
    assert budget.limit(small) >= 60 > 3 * budget.needs(small).seconds
    assert budget.limit(plan()) >= 3 * budget.needs(plan()).seconds


def stopped(so_far: Report | None) -> JobStatus:
    """This visitor's job, stopped when so much was done."""
    step = Progress(0.3, 8.0, "", so_far) if so_far else None
    return JobStatus(1, "stopped", True, 0, 0.0, 0.0, step, "", False)


NO_TIME = "No row had the 3 rounds that a time takes. Not kept:"


@pytest.mark.parametrize(
    ("looked_into", "timings", "said"),
    [
        (0, 0, "Nothing was measured by then."),
        (3, 0, f"{NO_TIME} the memory of 3 rows and the time by part of 2 rows."),
        (1, 2, f"{NO_TIME} the memory of 1 row and 2 timings."),
    ],
)
def test_what_is_lost_where_there_is_no_time_yet_is_said(looked_into, timings, said):
    """The last row that was looked into was stopped before its parts."""
    report = plausible(plan_of_link(), done=3)
    blocks = Blocks((0.1,) * timings, tuple(range(timings)))
    rows = [
        replace(
            row,
            forward=blocks if number == 0 else Blocks(),
            training=Blocks(),
            memory=row.memory if number < looked_into else Memory(),
            parts=row.parts if number < looked_into - 1 else (),
        )
        for number, row in enumerate(report.measured)
    ]
    so_far = replace(report, measured=tuple(rows), complete=False)
    assert not measure_words.worth_keeping(so_far)
    assert measure_words.left(stopped(so_far), None) == said
    assert measure_words.left(stopped(None), None) == "Nothing was measured by then."


def test_what_is_kept_stays():
    report = plausible(plan_of_link())
    assert measure_words.left(stopped(report), report) == "What was done stays."
