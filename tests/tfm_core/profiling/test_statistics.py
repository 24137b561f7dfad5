"""Intervals hold what they promise, on noise that we made; ratios are paired by round; which blocks count."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.profiling import Blocks
from tfm_core.profiling.report import FEWEST, FEWEST_CLEAN, usable_rounds
from tfm_core.profiling.statistics import NO_DIFFERENCE, TOO_FEW, Interval, median_interval, paired, ratio, verdict

NUMBERS = st.floats(1e-6, 1e6)


@pytest.mark.parametrize("count", [6, 15, 30])
@pytest.mark.parametrize("noise", ["lognormal", "standard_cauchy", "exponential"])
def test_the_true_median_lies_within_as_often_as_promised(count, noise):
    drawn = np.random.default_rng(0)
    true = {"lognormal": 1.0, "standard_cauchy": 0.0, "exponential": math.log(2)}[noise]
    intervals = [median_interval(getattr(drawn, noise)(size=count)) for _ in range(400)]
    assert 0.92 <= np.mean([interval.low <= true <= interval.high for interval in intervals]) <= 0.995


@pytest.mark.parametrize("level", [0.95, 0.99])
@pytest.mark.parametrize("count", range(1, 40))
def test_the_bounds_are_the_tightest_pair_that_keeps_the_level(count, level):
    """The definition is counted out over the whole binomial distribution."""
    interval = median_interval(range(count), level)
    missed = [2 * sum(math.comb(count, k) for k in range(rank)) / 2**count for rank in range(1, count // 2 + 1)]
    kept = [rank for rank, share in enumerate(missed, 1) if 1 - share >= level]
    assert interval.middle == np.median(range(count))
    if kept:
        assert (interval.low, interval.high) == (max(kept) - 1, count - max(kept))
    else:
        assert math.isnan(interval.low)
        assert math.isnan(interval.high)


def test_without_values_nothing_is_known():
    for nothing in ((), (math.nan, math.nan)):
        assert all(map(math.isnan, vars(median_interval(nothing)).values()))
    assert median_interval([1.0, math.nan, 3.0]).middle == 2


@given(st.lists(NUMBERS, min_size=6, max_size=40), NUMBERS)
def test_a_change_of_unit_changes_nothing_else(values, unit):
    interval, scaled = median_interval(values), median_interval([unit * value for value in values])
    assert interval.low <= interval.middle <= interval.high
    np.testing.assert_allclose(list(vars(scaled).values()), [unit * x for x in vars(interval).values()])


def test_a_round_that_is_slow_for_both_cancels():
    drift = np.random.default_rng(1).lognormal(0, 1, 15)
    a, b = (Blocks(tuple(times * drift), tuple(range(15))) for times in (3.0, 2.0))
    interval = ratio(a, b)
    np.testing.assert_allclose([interval.low, interval.middle, interval.high], 1.5)
    assert verdict(interval) == "slower"
    assert verdict(ratio(b, a)) == "faster"


def test_only_rounds_that_both_have_are_paired():
    a = Blocks((2.0, 4.0, 99.0), (0, 1, 7))
    b = Blocks((1.0, 2.0, 1.0), (0, 1, 2))
    assert paired(a, b).rounds == {}  # two alone decide nothing
    a, b = Blocks((2.0, 4.0, 6.0, 99.0), (0, 1, 5, 7)), Blocks((1.0, 2.0, 1.0, 3.0), (0, 1, 2, 5))
    assert paired(a, b).rounds == {0: 2, 1: 2, 5: 2}
    assert not paired(a, b).under_load
    assert ratio(a, b).middle == 2
    assert verdict(ratio(a, b)) == TOO_FEW
    assert math.isnan(ratio(a, Blocks()).middle)


def test_where_too_few_rounds_are_clean_in_both_all_rounds_are_paired():
    """Interleaved rows are disturbed alike: the ratio stays what it is, and its interval grows."""
    clean = Blocks(tuple(2.0 + 0.1 * (i % 2) for i in range(9)), tuple(range(9)))
    busy = Blocks((1.0,), (4,), contended=8, loaded=(1.0, 1.5, 0.9, 1.1) * 2, loaded_rounds=(0, 1, 2, 3, 5, 6, 7, 8))
    both = paired(clean, busy)
    assert both.under_load
    assert set(both.rounds) == set(range(9))
    assert both.interval.low < 2 < both.interval.high
    np.testing.assert_allclose([*both.times(3.0).rounds.values()], [3 * value for value in both.rounds.values()])
    assert both.times(3.0).under_load


def test_equal_costs_are_called_different_rarely_and_unequal_ones_often():
    drawn = np.random.default_rng(2)

    def words(factor):
        a, b = (Blocks(tuple(f * drawn.lognormal(0, 0.05, 15)), tuple(range(15))) for f in (factor, 1.0))
        return verdict(ratio(a, b))

    assert [words(1.0) for _ in range(200)].count(NO_DIFFERENCE) >= 180
    assert [words(1.2) for _ in range(50)].count("slower") >= 48


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.9, 1.1, NO_DIFFERENCE), (1.0, 1.2, NO_DIFFERENCE), (0.8, 0.99, "faster"), (1.01, 2, "slower")],
)
def test_what_straddles_1_is_no_difference(low, high, words):
    assert verdict(Interval(low, (low + high) / 2, high)) == words


# what figures are taken from


CLEAN, LOADED = 1.0, 2.0


def blocks(clean: int, loaded: int) -> Blocks:
    """Clean rounds, followed by contended rounds, of two blocks each."""
    after = tuple(clean + number for number in range(loaded) for _ in range(2))
    times = (LOADED - 0.5, LOADED + 0.5) * loaded
    return Blocks((CLEAN,) * clean, tuple(range(clean)), 2 * loaded, loaded=times, loaded_rounds=after)


@pytest.mark.parametrize(
    ("clean", "loaded", "rounds", "under_load"),
    [
        (9, 0, 9, False),
        (6, 24, 6, False),
        (5, 4, 9, True),
        (1, 160, 161, True),
        (0, 9, 9, True),
        (3, 0, 3, False),
        (2, 1, 3, True),
        (2, 0, 0, False),
        (1, 1, 0, False),
        (0, 0, 0, False),
    ],
)
def test_figures_are_of_clean_blocks_where_they_are_enough_and_else_of_all(clean, loaded, rounds, under_load):
    measured = blocks(clean, loaded)
    assert (len(measured.sample), measured.under_load) == (rounds, under_load)
    expected = [CLEAN] * clean + [LOADED] * (rounds - clean) if rounds else []
    assert list(measured.sample.values()) == expected
    if rounds:
        assert measured.median == median(expected)
        assert measured.minimum == min(expected)
    else:
        assert all(map(math.isnan, (measured.median, measured.minimum, *measured.quartiles)))


def test_the_bounds_are_those_that_they_are_said_to_be():
    assert math.isnan(median_interval([1.0] * (FEWEST_CLEAN - 1)).low)
    assert median_interval([1.0] * FEWEST_CLEAN).low == 1


ROUNDS = st.dictionaries(st.integers(0, 29), st.floats(0.1, 10))


@given(ROUNDS, ROUNDS)
def test_no_figure_is_of_fewer_than_three_rounds_and_nothing_clean_is_left_out_of_all(clean, loaded):
    every = loaded | clean
    sample, under_load = usable_rounds(clean, every)
    assert not 0 < len(sample) < FEWEST
    assert sample in ({}, clean, every)
    assert under_load == (sample == every != clean)
