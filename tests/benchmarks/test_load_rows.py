"""The arithmetic of the load benchmark; tests/hosted/test_load.py has a visitor of a real server."""

import random
from collections import Counter

import numpy as np
import pytest

from benchmarks.live.crowd import Hand, Lecture, Observed
from benchmarks.live.load_rows import (
    ERRORS,
    NEW_50,
    NEW_95,
    TICK,
    bars_of,
    growth,
    lines,
    percentile,
    values_of,
)
from benchmarks.live.views import Ticked, links
from benchmarks.live.visitor_answers import drawn_of, problem_of, split
from benchmarks.live.visitor_kept import Kept
from tfm_ui.lenses import lenses
from tfm_ui.pictures.canvas import encode

NUMBERS = np.arange(3, dtype=np.float32)


def packed(*pictures):
    return b"".join(len(picture).to_bytes(4, "little") + picture for picture in pictures)


def test_an_answer_is_split_into_its_pictures():
    pictures = [encode({"query": "seed=7"}, NUMBERS), encode({"problem": "It is broken."}, NUMBERS[:0])]
    assert list(split(packed(*pictures), 2)) == pictures
    assert [problem_of(picture) for picture in pictures] == ["", "It is broken."]
    with pytest.raises(ValueError, match="expected 3 pictures, got"):
        list(split(packed(*pictures), 3))
    with pytest.raises(ValueError, match="expected 1 pictures, got"):
        list(split(packed(*pictures), 1))


def test_what_is_drawn_does_not_depend_on_the_link_but_on_header_and_numbers():
    same = [drawn_of(encode({"query": query, "rows": 3}, NUMBERS)) for query in ("seed=7", "seed=8")]
    assert same[0] == same[1]
    assert drawn_of(encode({"rows": 3}, NUMBERS + 1)) != same[0] != drawn_of(encode({"rows": 4}, NUMBERS))


def test_percentiles():
    assert percentile(range(101), 95) == 95
    assert percentile([3, 9, 1], 50) == 3
    assert percentile([3, 9, 1], 100) == 9
    assert percentile([4.0], 95) == 4.0
    with pytest.raises(ValueError, match="at least one number"):
        percentile([], 50)


def test_growth_looks_at_the_last_half_alone():
    rising_then_flat = [(float(at), 100.0 + min(at, 50)) for at in range(0, 101, 5)]
    assert growth(rising_then_flat) == pytest.approx(0)
    assert growth([(float(at), 2.0 * at) for at in range(0, 101, 5)]) == pytest.approx(100)
    with pytest.raises(ValueError, match="at least 2 looks"):
        growth([(0.0, 1.0), (9.0, 1.0)])


def test_no_two_visitors_of_a_view_get_the_same_value_but_all_get_the_known_one():
    hand = Hand(Ticked("/heads", "seed", [str(n) for n in range(50)], True), random.Random(0))
    given = Counter(hand.new("1")["seed"] for _ in range(49))
    assert set(given.values()) == {1}
    assert [hand.known()[1] for _ in range(3)] == [False, True, True]
    assert hand.known()[0]["seed"] not in given


def test_visitors_of_a_control_with_few_values_have_seeds_of_their_own():
    hand = Hand(Ticked("/masks?masks_view=see", "masks_item", ["1", "3"], True), random.Random(0))
    (first, seed), (second, other) = hand.link(), hand.link()
    assert first == f"/masks?masks_view=see&seed={seed}" != second
    assert hand.new(seed)["seed"] == seed != hand.new(other)["seed"]
    assert hand.known()[0] == hand.known()[0]


def test_who_follows_a_lecturer_makes_the_same_moves_at_the_same_times():
    lecture = Lecture(Ticked("/heads", "seed", [str(n) for n in range(50)], True), random.Random(0))
    (link, seed), other = lecture.link(), lecture.link()
    assert (link, seed) == other
    first, second = lecture.moves(seed), lecture.moves(seed)
    assert [next(first) for _ in range(3)] == [({"seed": str(n)}, False) for n in range(3)]
    assert [next(second) for _ in range(4)] == [({"seed": str(n)}, n < 3) for n in range(4)]
    assert lecture.chance(random.Random(1)).random() == lecture.chance(random.Random(2)).random()


def test_the_table_has_the_bars_beside_the_numbers():
    kept = Kept(pictures=[0.02, 0.04, 0.06], pages=[0.1], moves=4, errors=["broken"])
    measured = Observed(kept, processor=0.2, driver=0.5, wall=10.0, memory=[(0.0, 400.0), (5.0, 500.0)])
    values = values_of(measured)
    assert (values[TICK], values[NEW_50], values[ERRORS]) == (50.0, 40.0, 1)
    told = {what: bar for what, _, _, bar in lines(values, bars_of(30))}
    assert told[TICK.what] == "≤ 18 ✕"
    assert told[NEW_95.what] == "≤ 120 ✓"
    assert told[ERRORS.what] == "≤ 0 ✕"


def test_each_view_of_each_lens_has_a_link_of_its_own():
    assert len(set(links())) == len(links()) == sum(len(lens.views) for lens in lenses())
