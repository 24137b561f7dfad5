"""What figures are taken from: clean blocks where they are enough, else all, and never a single one."""

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.profiling import Blocks
from tfm_core.profiling.report import FEWEST, FEWEST_CLEAN, usable_rounds
from tfm_core.profiling.statistics import median_interval

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
