"""Rows of `rotated`: each value often enough, no pair twice; all pairs if asked for."""

from collections import Counter

import pytest

from tests.pages.rotated import rotated


@pytest.mark.crossed(first=[1, 2, 9, 38], second=[1, 3, 9, 15], each=[1, 2, 3, 40])
def test_each_value_meets_others_often_enough(first, second, each):
    axes = {"a": range(first), "b": range(second), "c": "xyz"}
    rows = rotated(axes, each=each)
    for number, other in ((0, second), (1, first)):
        counts = Counter(row[number] for row in rows)
        assert len(counts) == (first, second)[number]
        assert min(counts.values()) >= min(each, other)
    assert len({row[:2] for row in rows}) == len(rows)
    turns = Counter(row[2] for row in rows)
    assert max(turns.values()) - min(turns[letter] for letter in "xyz") <= 1
    assert {row[:2] for row in rotated(axes, each=each, full=True)} == {
        (a, b) for a in range(first) for b in range(second)
    }
