"""How often something is called before it counts, in a block, and again."""

import math
from itertools import repeat

import pytest

from tfm_core.profiling import Blocks, clock

EVER = clock.Patience(math.inf)


class Scripted:
    """A call that takes as long as it is told, by a clock of its own."""

    def __init__(self, seconds, monkeypatch):
        self.seconds, self.now, self.calls = iter(seconds), 0.0, 0
        monkeypatch.setattr(clock, "timer", lambda: self.now)

    def __call__(self):
        self.calls += 1
        self.now += next(self.seconds)


class Shares:
    """A gate that finds these."""

    def __init__(self, *shares):
        self.shares = list(shares)

    def around(self, block):
        return block(), self.shares.pop(0)


def test_the_cold_call_is_apart_and_warming_up_ends_when_it_settles(monkeypatch):
    warmed = clock.warm_up(Scripted([0.5, 0.02, 0.013, 0.010, 0.0099, 7.0], monkeypatch))
    assert warmed.warm_up == pytest.approx((0.5, 0.02, 0.013, 0.010, 0.0099))
    assert warmed.calls == 4  # 40 ms
    assert warmed.seconds == ()


def test_it_ends_also_where_nothing_settles_and_where_a_call_is_long(monkeypatch):
    restless = Scripted([seconds for _ in range(50) for seconds in (0.001, 0.002)], monkeypatch)
    assert len(clock.warm_up(restless).warm_up) == clock.WARM_UP[1]
    slow = clock.warm_up(Scripted([9.0, 6.0, 4.0, 2.0], monkeypatch))
    assert (len(slow.warm_up), slow.calls) == (3, 1)


@pytest.mark.parametrize(("calls", "expected"), [(1, 2), (5, 7)])
def test_a_block_calls_once_or_twice_before_it_counts(calls, expected):
    made = []
    assert clock.block(lambda: made.append(1), calls, 1) > 0
    assert len(made) == expected
    assert clock.expected(Blocks(warm_up=(9.0, 1.0), calls=calls)) == expected
    assert clock.expected(Blocks(seconds=(2.0,), warm_up=(9.0, 1.0), calls=calls)) == 2 * expected
    assert clock.expected(Blocks()) == 0


def test_a_contended_block_is_set_apart_counted_and_tried_again():
    before = Blocks((1.0,), (0,), contended=2)
    thrown, clean = clock.turn(before, lambda: None, 1, 1, Shares(0.06, 0.05, 1.0), EVER)
    assert (thrown.seconds, thrown.contended, len(thrown.loaded)) == ((1.0,), 3, 1)
    assert (clean.rounds, clean.contended, len(clean.seconds), clean.loaded_rounds) == ((0, 1), 3, 2, (1,))


def test_blocks_grow_where_warming_up_was_slow():
    """Warming up was contended: a call of 20 ms was in truth one of nothing."""
    (clean,) = clock.turn(Blocks(warm_up=(0.02,), calls=2), lambda: None, 0, 1, Shares(0.0), EVER)
    assert clean.calls > 1000


def test_a_turn_gives_up_at_last():
    *_, last = clock.turn(Blocks(), lambda: None, 0, 1, Shares(*repeat(0.9, clock.TRIES)), EVER)
    assert (last.seconds, last.contended) == ((), clock.TRIES)
    assert last.loaded_rounds == (0,) * clock.TRIES
    assert min(last.loaded) > 0


def test_a_busy_machine_costs_half_as_much_again_at_most(monkeypatch):
    timed = Scripted(repeat(1.0), monkeypatch)  # each block is a second
    monkeypatch.setattr(clock, "block", lambda call, *_: call())
    patience, turns = clock.Patience(0.0), 40
    for number in range(turns):
        assert list(clock.turn(Blocks(), timed, number, 1, Shares(*repeat(0.9, clock.TRIES)), patience))
    assert turns < timed.calls <= turns * (1 + clock.AGAIN)
    assert 0 <= patience.left < clock.TRIES
