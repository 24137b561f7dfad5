"""Tiers, pairs and cases: a folder says the tier of a test, each pair is there, and few cases are spread over all."""

from itertools import combinations
from random import Random

import numpy as np
import pytest

from tests.crossed import combined
from tests.examples import spread
from tests.tiers import FOLDERS, ROOT, TIERS, UNIT, Tier, tier_of

AXES = {"a": range(3), "b": "xyzw", "c": [True, False], "d": [None, 0.5, 2]}


@pytest.mark.parametrize(
    ("test", "tier"),
    [
        ("tests/test_run.py::test_a", "unit"),
        ("tests/tfm_ui/pictures/test_bars.py::test_a[tests/laws]", "unit"),
        ("tests/laws/test_pictures.py::test_a", "law"),
        ("tests/browser/others/test_smoke.py::test_a[x]", "browser"),
        ("tests/hosted/test_load.py", "hosted"),
    ],
)
def test_a_tests_folder_says_its_tier(test, tier):
    assert tier_of(test) == tier


def test_each_tier_has_a_folder_that_exists():
    assert {UNIT, *FOLDERS.values()} == set(TIERS)
    assert all(list((ROOT / folder).glob("test_*.py")) for folder in FOLDERS)


def test_a_tier_tells_its_seconds_its_failures_and_its_slowest_tests():
    tier = Tier()
    for number in range(12):
        tier.seconds[f"test {number}"] += number
    tier.failed.add("test 3")
    first, *slowest = tier.told("law")
    assert first == "law: 12 tests, 66.0 seconds of work, 1 FAILED"
    assert [line.split()[-1] for line in slowest] == [str(number) for number in range(11, 1, -1)]


def test_each_pair_of_values_is_in_a_row_and_rows_are_few():
    axes = [list(axis) for axis in AXES.values()]
    rows = combined(AXES)
    for first, second in combinations(range(len(axes)), 2):
        assert {(row[first], row[second]) for row in rows} == {(a, b) for a in axes[first] for b in axes[second]}
    assert len(rows) < len(combined(AXES, full=True)) / 3
    assert len(combined(AXES, full=True)) == 3 * 4 * 2 * 3


def test_of_one_or_two_axes_each_combination_is_there():
    assert combined({"a": "xyz"}) == [("x",), ("y",), ("z",)]
    assert sorted(combined({"a": "xy", "b": "12"})) == [("x", "1"), ("x", "2"), ("y", "1"), ("y", "2")]


@pytest.mark.parametrize("count", [1, 9, 10, 11, 37, 295])
def test_few_cases_are_spread_over_all_and_all_come_in_time(count):
    random, cases = Random(0), range(count)
    draws = [spread(cases, 10, random) for _ in range(1000)]
    for chosen in draws:
        assert len(set(chosen)) == min(count, 10)
        gaps = np.diff([-1, *chosen, count])
        assert max(gaps) <= max(1, 2 * -(-count // 10))
    assert set().union(*draws) == set(cases)
