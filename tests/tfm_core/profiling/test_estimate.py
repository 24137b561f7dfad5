"""What a plan will take is told before anything is built, and what exceeds a budget is refused."""

import math
import re
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Machine, Plan, Row, Setup, Size
from tfm_core.profiling.costs import call_seconds
from tfm_core.profiling.estimate import Budget, _smaller, estimate, refusal
from tfm_core.profiling.machine import COPY_BYTES
from tfm_core.profiling.units import in_bytes, in_seconds

BUDGET = Budget(60, 2e9)
ABSURD = Plan((Row("with weights", Size(d_model=256, num_heads=8, num_layers=8, seq_len=2048, batch=64)),) * 40)
DEFAULT = Plan(tuple(Row("with weights", size) for size in DEFAULT_SIZES))
FAST = Machine(
    device="", processor="", cores=2, system="", torch="", flops_per_second=105e9, bytes_per_second=34e9
)  # the machine that the figures below were measured on, one thread


@pytest.fixture(autouse=True)
def nothing_is_built(monkeypatch):
    def build(*_, **__):
        raise AssertionError("an estimate builds no module")

    for name, target in TARGETS.items():
        monkeypatch.setitem(TARGETS, name, replace(target, build=build))


@pytest.mark.parametrize(
    ("target", "size", "milliseconds"),
    [
        ("with weights", DEFAULT_SIZES[0], 3.4),
        ("with weights", DEFAULT_SIZES[1], 20.6),
        ("nn.TransformerEncoder", DEFAULT_SIZES[2], 93.5),
        ("nn.TransformerEncoder", DEFAULT_SIZES[4], 103.7),
        ("fused flash", Size(d_model=64, num_heads=4, num_layers=2, seq_len=2048, batch=1), 44.5),
        ("with weights", Size(d_model=64, num_heads=4, num_layers=2, seq_len=2048, batch=1), 148.6),
        ("with weights", Size(d_model=64, num_heads=4, num_layers=2, seq_len=32, batch=1), 0.42),
        ("LSTM", DEFAULT_SIZES[1], 7.7),
        ("GRU", DEFAULT_SIZES[1], 20.2),
        ("convolution", DEFAULT_SIZES[4], 35.3),
    ],
)
def test_within_a_factor_of_2_of_what_was_measured_once(target, size, milliseconds):
    assert 0.5 < 1000 * call_seconds(Row(target, size), Setup(), FAST) / milliseconds < 2


def test_an_absurd_request_is_refused_at_once_with_the_estimate_and_what_would_fit():
    words = refusal(ABSURD, BUDGET)
    assert re.match(
        r"This would take about [\d,]+ hours and [\d,.]+ GB of memory; the limit is 60 s and 2\.0 GB\. ", words
    )
    assert "It would fit with at most" in words


@pytest.mark.parametrize(
    ("budget", "limit"), [(Budget(60, math.inf), "60 s"), (Budget(math.inf, 1e6), "1 MB"), (BUDGET, "60 s and 2.0 GB")]
)
def test_what_is_not_limited_is_not_called_a_limit(budget, limit):
    assert f"; the limit is {limit}. " in refusal(ABSURD, budget)


def test_what_fits_is_not_refused():
    needs = estimate(DEFAULT, FAST)
    assert refusal(DEFAULT, Budget(needs.seconds, needs.bytes), FAST) == ""
    assert refusal(DEFAULT, Budget(needs.seconds * 0.99, needs.bytes), FAST)
    assert refusal(DEFAULT, Budget(needs.seconds, needs.bytes * 0.99), FAST)


@given(st.floats(1, 300), st.floats(1e6, 1e10), st.sampled_from((replace(ABSURD, rows=ABSURD.rows[:3]), DEFAULT)))
def test_the_advice_is_the_first_change_that_fits(seconds, memory, plan):
    words = refusal(plan, Budget(seconds, memory), FAST)
    if words:
        for change, smaller in chain.from_iterable(_smaller(plan)):
            needs = estimate(smaller(), FAST)
            if needs.seconds <= seconds and needs.bytes <= memory:
                assert words.endswith(f"It would fit with {change}.")
                break
        else:
            assert words.endswith("Nothing like it would fit: try a smaller d_model, fewer layers, or a smaller batch.")


def test_more_work_takes_longer_and_less_work_takes_less():
    for change in ({"rounds": 30}, {"dtype": "float64"}, {"dtype": "float16"}):
        assert estimate(replace(DEFAULT, setup=Setup(**change))).seconds > estimate(DEFAULT).seconds
    forward_alone = estimate(replace(DEFAULT, setup=Setup(backward=False)))
    assert forward_alone.seconds < 0.5 * estimate(DEFAULT).seconds
    assert forward_alone.bytes < estimate(DEFAULT).bytes
    assert estimate(replace(DEFAULT, rows=DEFAULT.rows[:2])).seconds < estimate(DEFAULT).seconds
    assert estimate(DEFAULT, FAST).seconds < estimate(DEFAULT).seconds


def test_a_machine_that_was_not_measured_is_taken_for_a_slow_one():
    unknown = replace(FAST, flops_per_second=float("nan"), bytes_per_second=float("nan"))
    assert estimate(DEFAULT, unknown) == estimate(DEFAULT)


def test_rows_that_cannot_run_take_nothing():
    refused = Row("fused efficient", ABSURD.rows[0].size)
    strange = Row("no such target", ABSURD.rows[0].size)
    alone = estimate(Plan((refused, strange)))
    assert alone.bytes == 2 * COPY_BYTES["cpu"]
    assert estimate(Plan((*DEFAULT.rows, refused, strange))) == estimate(DEFAULT)


@pytest.mark.parametrize("target", [name for name in TARGETS if not TARGETS[name].refuses(Setup())])
def test_every_target_has_an_estimate(target):
    needs = estimate(Plan((Row(target, DEFAULT_SIZES[0]),)))
    assert needs.seconds > 0
    assert needs.bytes > 1e6


def test_quantities_as_people_say_them():
    assert [in_seconds(s) for s in (0.1, 12.4, 89, 90, 600, 86400, 1e7)] == [
        "1 s", "12 s", "89 s", "2 minutes", "10 minutes", "24 hours", "2,778 hours",
    ]  # fmt: skip
    assert [in_bytes(b) for b in (10, 3.2e7, 2e9, 1.9e13)] == ["1 MB", "32 MB", "2.0 GB", "19,000.0 GB"]
