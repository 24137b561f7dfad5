"""What a plan is estimated to take here, from whatever is known of this machine."""

import math
import time

import torch
from torch.utils.benchmark import Timer

from tests.tfm_ui.store.empty import empty_store
from tfm_core.profiling import DEFAULT_SIZES, Machine, Plan, Report, Row, Setup, Size
from tfm_ui.lenses.profiling import budget, measurements
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState


def plan(**setup) -> Plan:
    return Plan(tuple(Row("with weights", size) for size in DEFAULT_SIZES), Setup(**setup))


def test_the_lengths_of_a_link_stay_whatever_was_measured_since():
    state, model = ProfilingState(view="length"), ModelState()
    before, needed = plan_of(model, state), budget.needs(plan())
    slow = Machine(device="", processor="", cores=1, system="", torch="", flops_per_second=1e3, bytes_per_second=1e3)
    with empty_store(measurements):
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
