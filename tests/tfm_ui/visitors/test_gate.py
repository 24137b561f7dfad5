"""The gate: how much at once, whose turn, who is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.visitors.gate import Busy, Gate
from tfm_ui.visitors.ring import NEW, Ring


def begun(tickets) -> list[bool]:
    return [ticket.admitted.done() for ticket in tickets]


def test_so_many_at_once_and_the_next_when_one_leaves():
    gate = Gate(light=2, heavy=1)
    tickets = [gate.ask("a") for _ in range(3)]
    assert begun(tickets) == [True, True, False]
    gate.leave(tickets[0])
    assert begun(tickets) == [True, True, True]


def test_what_takes_long_never_takes_the_place_of_what_is_quick():
    gate = Gate(light=1, heavy=1)
    long = [gate.ask("a", heavy=True) for _ in range(3)]
    assert begun(long) == [True, False, False]
    assert gate.ask("b").admitted.done()


def test_visitors_take_turns():
    gate = Gate(light=1, heavy=1)
    running, *many = [gate.ask("many") for _ in range(10)]
    other = gate.ask("other")
    gate.leave(running)
    assert other.admitted.done(), "though nine of the first visitor's came before"
    assert not any(begun(many))


def test_who_has_left_is_not_admitted_and_leaving_twice_frees_one_place():
    gate = Gate(light=1, heavy=1)
    first, second, third, fourth = (gate.ask(name) for name in "abcd")
    gate.leave(second)
    gate.leave(first)
    gate.leave(first)
    assert begun([second, third, fourth]) == [False, True, False]


@pytest.mark.parametrize(
    ("most", "words"),
    [
        ({"per_visitor": 2}, "2 pictures or pages of yours"),
        ({"per_address": 2}, "2 pictures or pages wait that your network asked for"),
        ({"in_all": 2}, "2 pictures or pages of all visitors"),
    ],
)
def test_beyond_a_bound_it_is_busy(most, words):
    gate = Gate(light=1, heavy=1, **most)
    tickets = [gate.ask("192.0.2.1 a") for _ in range(3)]
    with pytest.raises(Busy, match=words):
        gate.ask("192.0.2.1 a")
    if "in_all" not in most:
        tickets.append(gate.ask("192.0.2.2 b"))
    for ticket in tickets:
        gate.leave(ticket)
    assert gate.ask("192.0.2.1 a").admitted.done()


def test_a_free_place_is_given_whatever_waits_in_the_other_lane():
    gate = Gate(light=1, heavy=1, per_visitor=1)
    for _ in range(2):
        gate.ask("a", heavy=True)
    assert gate.ask("a").admitted.done()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 9)), max_size=60))
def test_no_place_is_ever_lost_or_given_twice(acts):
    gate, held = Gate(light=2, heavy=1, per_visitor=5, in_all=9), []
    for visitor, heavy, leaves in acts:
        try:
            held.append(gate.ask(visitor, heavy=heavy))
        except Busy:
            assert len(gate._waiting) >= 5 or len(gate._waiting) == 9
        if held and leaves < 5:
            gate.leave(held.pop(leaves % len(held)))
        for lane, most in ((False, 2), (True, 1)):
            running = sum(ticket.admitted.done() for ticket in held if ticket.heavy is lane)
            waiting = sum(not ticket.admitted.done() for ticket in held if ticket.heavy is lane)
            assert running <= most
            assert running == most or not waiting, "somebody waits before a free place"


@pytest.mark.parametrize("made_up", ["192.0.2.1 {}", "192.0.2.{} x"])
@pytest.mark.parametrize("quiet", ["192.0.2.1 quiet", "198.51.100.1 quiet"])
def test_however_many_visitors_are_made_up_each_question_of_a_quiet_one_has_its_turn(made_up, quiet):
    gate, number, waits = Gate(light=1, heavy=1, in_all=40), 0, []
    running, crowd = gate.ask("nobody"), []

    def come() -> None:
        nonlocal number
        number += 1
        crowd.append(gate.ask(made_up.format(number)))

    def go_on() -> None:
        nonlocal running
        gate.leave(running)
        running = next(ticket for ticket in [*crowd, mine] if ticket.admitted.done() and not ticket.left)

    for _ in range(20):
        come()
    for _ in range(10):
        mine = gate.ask(quiet)
        turns = 0
        while not mine.admitted.done():
            go_on()
            come()
            turns += 1
        waits.append(turns)
        go_on()
    assert max(waits) < 2 * NEW


def test_the_order_that_is_told_is_the_one_that_comes():
    ring: Ring[int] = Ring()
    for wish, visitor in enumerate(["a x", "a x", "a y", "b z", "a y", "b z", "c w"]):
        ring.add(visitor, wish)
    told = ring.order()
    assert [ring.next() for _ in range(len(told))] == told
    assert ring.next() is None
    assert sorted(told) == list(range(7))
