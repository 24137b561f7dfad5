"""Steps, rates and divergence against their formulas."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.training.runs import small, to_the_end
from tfm_core.training.schedule import APART, EARLY, divergence, is_point, is_snapshot, rate


@given(st.integers(0, 1000), st.integers(1, 20_000), st.floats(1e-6, 10))
def test_the_rate_rises_stays_and_falls(warmup, step, learning_rate):
    got = rate(small(warmup=warmup, learning_rate=learning_rate), step)
    flat = max(warmup, 200)
    if step <= warmup:
        expected = learning_rate * step / warmup
    elif step <= flat:
        expected = learning_rate
    else:
        expected = learning_rate * (flat / step) ** 0.5
    assert got == pytest.approx(expected, rel=1e-12)


def test_how_many_steps_there_will_be_does_not_matter():
    short, long = ([rate(small(steps=steps), step) for step in range(1, 10)] for steps in (9, 99))
    assert short == long


def test_snapshots_lie_evenly_on_a_log_axis():
    """Three between a step and the one at twice its number, rounded to whole steps; fewer where little is learned."""
    steps = [step for step in range(20_001) if is_snapshot(step)]
    late = [step for step in steps if step >= EARLY]
    assert late == [step for step in (round(2 ** (third / 3)) for third in range(43)) if step >= EARLY]
    assert {0, 1, 2, 4} <= set(steps)
    assert all(abs(later / earlier - 2 ** (1 / 3)) < 0.05 for earlier, later in pairwise(late))


def test_points_are_never_far_apart():
    steps = [step for step in range(2001) if is_point(step)]
    assert max(later - earlier for earlier, later in pairwise(steps)) <= APART <= 100
    assert {step for step in range(2001) if is_snapshot(step)} <= set(steps)


GUESSING = math.log(11)  # ten digits and padding


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([math.nan], "the loss of step 1 is not a finite number"),
        ([2.0, math.inf], "the loss of step 2 is not a finite number"),
        ([1.51 * GUESSING] * 100, "for 50 steps the loss was above 3.60, and guessing alone would give 2.40"),
        ([0.1] * 70 + [9.0] * 50, "for 50 steps"),
    ],
)
def test_a_run_that_diverges_says_so_and_what_helps(losses, words):
    said = divergence(small(), losses)
    assert words in said
    assert "A lower learning rate or a longer warm-up usually helps" in said


@pytest.mark.parametrize(
    "losses",
    [[9.0], [9.0] * 99, [9.0] * 100 + [3.0], [9.0] * 49 + [1.0] + [9.0] * 49 + [1.0], [1.49 * GUESSING] * 200],
)
def test_a_bad_begin_or_a_spike_is_no_divergence(losses):
    assert divergence(small(), losses) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weight_decay": 10.0}, "is not a finite number"),  # each step multiplies the weights by 1 - 10 * 10
        ({"norm": "post"}, "for 50 steps the loss was above 3.60"),
    ],
)
def test_a_real_run_that_diverges_ends_early(changes, words):
    run = to_the_end(small(steps=300, learning_rate=10.0, warmup=0, **changes))
    assert words in run.problem
    assert run.done < 300
    assert not run.is_complete
    assert run.points[-1].step == run.snapshots[-1] == run.done
