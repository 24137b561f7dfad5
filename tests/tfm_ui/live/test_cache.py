"""The cache has one limit in bytes, and each result is computed once."""

import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from tfm_ui.live import cache
from tfm_ui.live.cache import cached, held_bytes, kept_together, made_once
from tfm_ui.server.pool_worker import TurnElsewhere
from tfm_ui.visitors.compute_limiter import Lane
from tfm_ui.visitors.turn import SlowLaneNeeded, Turn, use_turn


@pytest.fixture
def room(monkeypatch) -> cache.DearestKept:
    """A cache of 10 kB, so that tests need not fill the server's."""
    small = cache.DearestKept(10_000)
    monkeypatch.setattr(cache, "CACHE", small)
    return small


@dataclass(frozen=True)
class Holder:
    tensor: torch.Tensor
    array: np.ndarray


MEGA = 1_000_000
tensor, array = torch.zeros(MEGA // 4), np.zeros(MEGA // 8)


@pytest.mark.parametrize(
    ("value", "megabytes"),
    [
        (tensor, 1),
        (tensor[:1], 1),  # a view keeps all of it
        ([tensor, tensor[5:], tensor.view(2, -1)], 1),
        (tensor.numpy(), 1),
        (array, 1),
        (array[:3], 1),
        (Holder(tensor, array), 2),
        ({"a": (tensor, {"b": array})}, 2),
        (nn.Linear(500, 500), 1),
        (lambda: tensor + array, 0),  # of the module
        ("x" * MEGA, 1),
    ],
)
def test_what_a_value_keeps_alive_is_counted_once(value, megabytes):
    assert held_bytes(value) == pytest.approx(megabytes * MEGA, rel=0.02, abs=5000)


def test_what_a_function_closes_over_is_counted():
    def table(values: torch.Tensor):
        return lambda rows: values[rows]

    assert held_bytes(table(torch.zeros(MEGA // 4))) == pytest.approx(MEGA, rel=0.02)


def test_the_same_is_computed_once(room):
    calls = []

    @cached()
    def square(number: int, *, plus: int = 0) -> int:
        calls.append(number)
        return number**2 + plus

    assert [square(3), square(3), square(3, plus=1), square(4)] == [9, 9, 10, 16]
    assert calls == [3, 3, 4]


@pytest.fixture
def clock(monkeypatch) -> Iterator[list[float]]:
    """The processor time of all threads, as a test sets it."""
    seconds = [0.0]
    monkeypatch.setattr(cache.time, "thread_time", lambda: seconds[0])
    return seconds


def test_of_equal_worth_what_was_not_used_for_longest_goes_first_and_the_budget_holds(room, clock):
    calls = []

    @cached()
    def block(number: int) -> np.ndarray:
        calls.append(number)
        return np.zeros(300)

    for number in (1, 2, 3, 1, 4, 1):  # 3 of them fit
        block(number)
        assert room.currsize <= room.maxsize
    assert calls == [1, 2, 3, 4]
    block(2)
    assert calls == [1, 2, 3, 4, 2]


def test_what_is_dear_for_its_size_stays_when_others_come_and_leaves_in_the_end(room, clock):
    calls = []

    @cached()
    def block(number: int, seconds: float) -> np.ndarray:
        calls.append(number)
        clock[0] += seconds
        return np.zeros(300)

    block(0, 10.0)
    for number in range(1, 9):  # 3 of them fit
        block(number, 1.0)
    block(0, 10.0)
    assert calls == [*range(9)], "the dear one has stayed"
    for number in range(9, 99):
        block(number, 1.0)
    block(0, 10.0)
    assert calls == [*range(99), 0], "it was asked for too long ago"


def test_nothing_is_left_of_a_cache_that_is_emptied(room):
    for _ in range(2):
        for number in range(9):  # 3 of them fit
            room[bytes([number])] = np.zeros(300)
        room.clear()
    assert (len(room), room.currsize) == (0, 0)
    assert room.seconds(bytes([8])) == 0


def test_what_has_grown_is_worth_all_that_it_took(room, clock):
    def grow(there: list[int] | None) -> list[int]:
        clock[0] += 2.0
        return [*(there or []), 1]

    for length in (1, 2, 3):
        cache.grown("steps", grow, is_enough=lambda there, length=length: len(there) >= length)
    [key] = room
    assert room.seconds(key) == 6.0


def test_results_apart_are_not_pushed_out_by_others_and_go_when_the_cache_is_emptied(room, clock):
    calls = []

    @cached(always_kept=2)
    def little(number: int) -> int:
        calls.append(number)
        return -number

    @cached()
    def block(number: int) -> np.ndarray:
        return np.zeros(300)

    def crowd() -> None:
        for number in range(9):
            block(number)

    for number in (1, 2, 1, 2):
        assert little(number) == -number
        crowd()
    assert calls == [1, 2]
    little(3)
    crowd()
    little(1)  # only two fit
    assert calls == [1, 2, 3, 1]
    cache.clear()
    little(1)
    assert calls == [1, 2, 3, 1, 1]


def test_what_is_larger_than_the_budget_is_computed_and_not_kept(room):
    @cached()
    def large() -> np.ndarray:
        return np.ones(100_000)

    assert large().sum() == 100_000
    assert room.currsize == 0


def test_several_who_ask_at_once_wait_for_one(room):
    calls, begun, go = [], threading.Event(), threading.Event()

    @cached()
    def slow(number: int) -> int:
        calls.append(number)
        begun.set()
        go.wait(10)
        return number

    with ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(slow, 1) for _ in range(3)]
        assert begun.wait(10)
        go.set()
        assert [answer.result(10) for answer in answers] == [1, 1, 1]
    assert calls == [1]


def test_an_error_is_not_kept(room):
    failures = [ValueError("first")]

    @cached()
    def sometimes() -> int:
        if failures:
            raise failures.pop()
        return 1

    with pytest.raises(ValueError, match="first"):
        sometimes()
    assert sometimes() == 1


def test_what_takes_long_changes_its_lane_unless_it_is_there_already(room):
    lanes = []

    @cached(heavy=lambda number: number > 5)
    def outer(number: int) -> int:
        lanes.append(turn.ticket.lane)
        return number

    turn = Turn("somebody")
    try:
        turn.wait()
        with use_turn(turn):
            assert [outer(1), outer(9), outer(9)] == [1, 9, 9]
    finally:
        turn.end()
    assert lanes == [Lane.PICTURES, Lane.SLOW]


def test_a_model_that_takes_long_says_so_itself():
    from tfm_ui.state.model_state import ModelState

    assert not ModelState().is_heavy
    assert not ModelState(seq_len=64, text="@alice").is_heavy
    assert ModelState(seq_len=1024, text="@alice", num_heads=16, num_layers=8).is_heavy


def test_in_a_block_nothing_is_computed_twice_and_all_is_let_go_at_its_end(room):
    calls = []

    @cached()
    def large(number: int) -> Holder:
        calls.append(number)
        return Holder(torch.zeros(1), np.ones(100_000))  # more than the whole cache

    with cache.kept_together():
        first = large(1)
        with cache.kept_together():
            assert large(1) is first
            large(2)
        assert large(2) is not first
    assert (calls, room.currsize) == ([1, 2], 0)
    gone = weakref.ref(first)
    del first
    assert gone() is None
    large(1)
    assert calls == [1, 2, 1]


def test_all_that_a_model_holds_is_counted_with_its_empty_tables():
    """It is what a walk counts that knows nothing of modules."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.LayerNorm(4), nn.Dropout()))
    model[0].register_forward_hook(max)
    total, known, reached = 0, set(), [model]
    while reached:
        item = reached.pop()
        if id(item) not in known and not isinstance(item, cache.SHARED):
            known.add(id(item))
            total += sys.getsizeof(item) + (item.untyped_storage().nbytes() if isinstance(item, torch.Tensor) else 0)
            reached += gc.get_referents(item)
    assert held_bytes(model) == total


def test_what_grows_goes_on_from_what_is_there_and_has_one_entry(room):
    begins = []

    def count_to(number: int) -> list[int]:
        def go_on(there: list[int] | None) -> list[int]:
            begins.append(len(there or []))
            return [*(there or []), *range(len(there or []), number)]

        return cache.grown("numbers", go_on, is_enough=lambda there: len(there) >= number)

    assert [len(count_to(number)) for number in (3, 2, 5, 5)] == [3, 3, 5, 5]
    assert begins == [0, 3]
    assert len(room) == 1
    cache.clear()
    assert count_to(1) == [0]


def test_what_grows_beyond_the_cache_is_there_until_its_block_ends(room):
    calls = []

    def large(there: np.ndarray | None) -> np.ndarray:
        calls.append(there is None)
        return np.zeros(100_000)

    with cache.kept_together():
        for _ in range(2):
            cache.grown("large", large, is_enough=lambda there: len(there) > 1)
    assert calls == [True]
    cache.grown("large", large, is_enough=lambda there: len(there) > 1)
    assert calls == [True, True]


def test_what_grows_by_much_asks_for_the_slow_lane(room):
    def to(number: int) -> list[int]:
        return cache.grown(
            "lane",
            lambda there: list(range(number)),
            is_enough=lambda there: len(there) >= number,
            heavy=lambda there: number - len(there or []) > 2,
        )

    with use_turn(TurnElsewhere(heavy=False)):
        assert len(to(2)) == 2
        assert len(to(4)) == 4
        with pytest.raises(SlowLaneNeeded):
            to(7)
        assert len(to(3)) == 4


def test_an_object_is_made_once_in_a_block_and_anew_elsewhere():
    @dataclass(frozen=True)
    class Made:
        number: int

    assert made_once(Made, 1) is not made_once(Made, 1)
    with kept_together():
        first = made_once(Made, 1)
        with kept_together():
            assert made_once(Made, 1) is first
        assert made_once(Made, 2) == Made(2)
    with kept_together():
        assert made_once(Made, 1) is not first
