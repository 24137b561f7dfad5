"""The arithmetic of the benchmark of writing; tests/hosted/test_load.py has visitors of a real server who write."""

from itertools import islice

import pytest

from benchmarks.live.crowd import Observed
from benchmarks.live.load_rows import ERRORS, MOVES, REFUSED, lines
from benchmarks.live.visitor_kept import Kept
from benchmarks.writing import (
    A_TEXT,
    ALONE_50,
    BARS,
    BESIDE_50,
    ROWS,
    TEXT_50,
    TEXTS,
    TIMES_50,
    WRITERS,
    Round,
    links,
    new_seeds,
    values_of,
)


def a_round(alone, beside, texts):
    return Round(
        Observed(Kept(pictures=alone), processor=1.0, wall=10.0),
        Observed(Kept(pictures=beside, errors=["broken"]), processor=4.0, wall=20.0),
        Kept(moves=3, refused=1),
        texts,
    )


def test_ratios_are_taken_within_each_round_and_the_median_counts():
    rounds = [a_round([0.01], [0.02], [1.0, 2.0]), a_round([0.1], [0.5], [3.0]), a_round([0.02], [0.08], [2.0])]
    values = values_of(rounds, Kept(errors=["early"]))
    assert list(values) == list(ROWS)
    assert values[TIMES_50] == pytest.approx(4)
    assert (values[ALONE_50], values[BESIDE_50], values[TEXT_50]) == (20, 80, 2000)
    assert (values[MOVES], values[REFUSED], values[ERRORS]) == (9, 3, 4)
    assert values[TEXTS] == pytest.approx(4 / 60)
    assert values[A_TEXT] == pytest.approx(1000 * (12 - 60 * 0.1) / 4)  # without what the visitor of /heads took
    assert {what: bar for what, _, _, bar in lines(values, BARS)}[TIMES_50.what] == "≤ 3 ✕"


def test_each_who_writes_has_a_text_and_no_seed_comes_twice():
    assert len(set(links(WRITERS))) == WRITERS
    seeds = [values["generate_seed"] for values, _ in islice(new_seeds("generate_seed"), 9000)]
    assert len(set(seeds)) == 9000
