"""The limiter: how many computations run at the same time, whose turn is next, and who is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.settings import Settings
from tfm_ui.visitors import metrics
from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, Lane
from tfm_ui.visitors.fair_queue import HEAD_START, FairQueue
from tfm_ui.visitors.visitor import address_of


def refused(limit: str) -> float:
    return metrics.REGISTRY.get_sample_value("attention_lab_refused_total", {"limit": limit}) or 0


def begun(tickets) -> list[bool]:
    return [ticket.admitted.done() for ticket in tickets]


def test_so_many_at_once_and_the_next_when_one_leaves():
    limiter = ComputeLimiter(pictures=2, pages=1, slow=1)
    tickets = [limiter.ask("a") for _ in range(3)]
    assert begun(tickets) == [True, True, False]
    limiter.leave(tickets[0])
    assert begun(tickets) == [True, True, True]


def test_what_takes_long_never_takes_the_place_of_what_is_quick():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    long = [limiter.ask("a", Lane.SLOW) for _ in range(3)]
    assert begun(long) == [True, False, False]
    assert limiter.ask("b").admitted.done()


def test_a_picture_does_not_wait_behind_the_page_of_the_same_visitor():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    pages = [limiter.ask("a", Lane.PAGES) for _ in range(2)]
    assert limiter.ask("a").admitted.done()
    assert begun(pages) == [True, False]


def test_visitors_take_turns():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    running, *many = [limiter.ask("many") for _ in range(10)]
    other = limiter.ask("other")
    limiter.leave(running)
    assert other.admitted.done(), "though nine of the first visitor's came before"
    assert not any(begun(many))


def test_who_has_left_is_not_admitted_and_leaving_twice_frees_one_place():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    first, second, third, fourth = (limiter.ask(name) for name in "abcd")
    limiter.leave(second)
    limiter.leave(first)
    limiter.leave(first)
    assert begun([second, third, fourth]) == [False, True, False]


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("waiting_per_visitor", "per_visitor", "2 pictures of yours"),
        ("waiting_per_address", "per_address", "2 pictures for your network are waiting"),
        ("waiting", "in_all", "2 pictures of all visitors"),
    ],
)
def test_beyond_a_bound_it_is_busy_which_is_counted_and_names_the_setting_that_is_lower_than_usual(
    limit, most, words, monkeypatch
):
    monkeypatch.setattr("tfm_ui.visitors.compute_limiter.SETTINGS", Settings(**{limit: 2}))
    limiter, before = ComputeLimiter(pictures=1, pages=1, slow=1, **{most: 2}), refused(limit)
    tickets = [limiter.ask("192.0.2.1 a") for _ in range(3)]
    with pytest.raises(Busy, match=rf"{words}.* \(this server's setting ATTENTION_LAB_{limit.upper()}\)\."):
        limiter.ask("192.0.2.1 a")
    assert refused(limit) == before + 1
    if limit != "waiting":
        tickets.append(limiter.ask("192.0.2.2 b"))
    for ticket in tickets:
        limiter.leave(ticket)
    assert limiter.ask("192.0.2.1 a").admitted.done()


def test_who_has_had_no_turn_is_not_pushed_out_of_a_full_queue_by_those_who_have():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=9, per_address=2, in_all=9)
    for visitor in ("1 earlier", "1 later", *["2 other"] * 3 * HEAD_START):  # long enough to be no newcomers any more
        limiter.leave(limiter.ask(visitor))
    limiter.ask("2 other")
    earlier, later = (limiter.ask(visitor) for visitor in ("1 earlier", "1 later"))
    new = limiter.ask("1 new")
    assert (earlier.left, later.left, new.left) == (False, True, False)
    assert isinstance(later.admitted.exception(), Busy)
    with pytest.raises(Busy):
        limiter.ask("1 later")  # who has had a turn most recently waits


def test_a_free_place_is_given_whatever_waits_in_the_other_lane():
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=1)
    for _ in range(2):
        limiter.ask("a", Lane.SLOW)
    assert limiter.ask("a").admitted.done()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Lane), st.integers(0, 9)), max_size=60))
def test_no_place_is_ever_lost_or_given_twice(acts):
    limiter, held = ComputeLimiter(pictures=2, pages=1, slow=1, per_visitor=5, in_all=9), []
    for visitor, lane, leaves in acts:
        try:
            held.append(limiter.ask(visitor, lane))
        except Busy:
            waiting = [ticket for ticket in limiter._waiting if ticket.lane is not Lane.PAGES]
            assert sum(ticket.visitor == visitor for ticket in waiting) == 5 or len(waiting) == 9
        held = [ticket for ticket in held if not ticket.left]  # without one that another has pushed out
        if held and leaves < 5:
            limiter.leave(held.pop(leaves % len(held)))
        for lane, most in ((Lane.PICTURES, 2), (Lane.PAGES, 1), (Lane.SLOW, 1)):
            running = sum(ticket.admitted.done() for ticket in held if ticket.lane is lane)
            waiting = sum(not ticket.admitted.done() for ticket in held if ticket.lane is lane)
            assert running <= most
            assert running == most or not waiting, "somebody waits before a free place"


@pytest.mark.parametrize("made_up", ["192.0.2.1 {}", "192.0.2.{} x"])
@pytest.mark.parametrize("quiet", ["192.0.2.1 quiet", "198.51.100.1 quiet"])
def test_however_many_visitors_are_made_up_each_question_of_a_quiet_one_has_its_turn(made_up, quiet):
    limiter, number, waits = ComputeLimiter(pictures=1, pages=1, slow=1, in_all=40), 0, []
    running, crowd = limiter.ask("nobody"), []

    def come() -> None:
        nonlocal number
        number += 1
        crowd.append(limiter.ask(made_up.format(number)))

    def finish_one() -> None:
        nonlocal running
        limiter.leave(running)
        running = next(ticket for ticket in [*crowd, mine] if ticket.admitted.done() and not ticket.left)

    for _ in range(20):
        come()
    for _ in range(10):
        mine = limiter.ask(quiet)
        turns = 0
        while not mine.admitted.done():
            finish_one()
            come()
            turns += 1
        waits.append(turns)
        finish_one()
    assert max(waits) < 2 * HEAD_START


def test_the_order_that_is_told_is_the_one_that_comes():
    queue: FairQueue[int] = FairQueue(address_of)
    for item, visitor in enumerate(["a x", "a x", "a y", "b z", "a y", "b z", "c w"]):
        queue.add(visitor, item)
    told = queue.order()
    assert [queue.next() for _ in range(len(told))] == told
    assert queue.next() is None
    assert sorted(told) == list(range(7))
