"""Who is ahead: beside a draw of chance itself, and where seeds overlap or tie."""

import numpy as np
import pytest

from tfm_core.training.verdict import ahead, chance_between


@pytest.mark.parametrize(
    ("first", "second", "chance", "expected"),
    [
        ([0.9, 0.8], [0.7, 0.6], 0.0, 1),
        ([0.9, 0.8], [0.7, 0.6], 0.2, 0),
        ([0.9, 0.8], [0.85, 0.1], 0.0, 0),
        ([1.0, 1.0], [1.0, 1.0], 0.0, 0),
        ([-100.0], [float("-inf")], 0.0, 1),
        ([float("-inf")] * 2, [float("-inf")] * 2, 0.0, 0),
        ([], [1.0], 0.0, 0),
    ],
)
def test_only_who_is_better_with_each_seed_is_ahead(first, second, chance, expected):
    assert ahead(first, second, chance) == expected
    assert ahead(second, first, chance) == -expected


@pytest.mark.parametrize(("share", "examples"), [(0.85, 712), (0.5, 128), (0.95, 2048)])
def test_of_two_equals_chance_puts_19_of_20_no_further_apart(share, examples):
    draws = np.random.default_rng(1).binomial(examples, share, (2, 20_000)) / examples
    apart = np.abs(draws[0] - draws[1])
    assert (apart <= chance_between(share, examples, share, examples)).mean() == pytest.approx(0.955, abs=0.01)
    told = [ahead([a], [b], chance_between(a, examples, b, examples)) != 0 for a, b in draws.T[:2000]]
    assert np.mean(told) < 0.07
