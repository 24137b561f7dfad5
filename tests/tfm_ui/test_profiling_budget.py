"""What a plan is estimated to take here, from whatever is known of this machine."""

import math
from dataclasses import replace

import pytest
import torch

from tfm_core.profiling import DEFAULT_SIZES, Machine, Plan, Report, Row, Setup, Size
from tfm_ui import measurements
from tfm_ui.profiling_lens import budget

MACHINE = Machine(device="", processor="", cores=1, system="", torch="", flops_per_second=5e9, bytes_per_second=5e9)


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(measurements, "_kept", measurements.OrderedDict())


def plan(**setup) -> Plan:
    return Plan(tuple(Row("with weights", size) for size in DEFAULT_SIZES), Setup(**setup))


def test_a_machine_that_was_measured_in_this_setting_is_known():
    assert measurements.machine(Setup()) is None
    measurements.keep(Report(id="other", plan=plan(dtype="float64"), machine=replace(MACHINE, flops_per_second=1e9)))
    measurements.keep(Report(id="known", plan=plan(rounds=3), machine=MACHINE))
    measurements.keep(Report(id="later", plan=plan(), machine=replace(MACHINE, flops_per_second=math.nan)))
    assert measurements.machine(Setup(seed=7)) == MACHINE
    assert budget.needs(plan()) == budget.estimate(plan(), MACHINE)


def test_before_that_a_glance_tells_and_leaves_torch_as_it_was():
    threads = torch.get_num_threads()
    machine = budget._machine(Setup(threads=2))
    assert machine.flops_per_second == 2 * budget._machine(Setup()).flops_per_second > 0
    assert math.isnan(budget._machine(Setup(device="cuda")).flops_per_second)
    assert torch.get_num_threads() == threads
    assert budget.needs(plan(rounds=30)).seconds > budget.needs(plan(rounds=3)).seconds > 0


def test_what_is_too_much_is_refused_and_what_is_let_in_has_a_limit_beyond_its_estimate():
    huge = Plan((Row("with weights", Size(d_model=1024, num_heads=16, num_layers=8, seq_len=20_000)),))
    assert "the limit is" in budget.refused(huge)
    small = Plan((Row("with weights", Size(d_model=8, num_heads=1, num_layers=1, seq_len=4)),), Setup(rounds=3))
    assert not budget.refused(small)
    assert budget.limit(small) >= 60 > 3 * budget.needs(small).seconds
    assert budget.limit(plan()) >= 3 * budget.needs(plan()).seconds
