"""Who is next, who joins and who leaves: with a worker that is played."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.fake_worker import FakeQueue, see
from tfm_ui.jobs.job import Refused, Request
from tfm_ui.jobs.messages import Stop
from tfm_ui.jobs.queue import GRACE, MOST_WAITING


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


def test_clients_take_turns_and_each_keeps_its_order(queue):
    for argument in ("a1", "a2", "a3"):
        queue.ask("a", argument)
    queue.ask("b", "b1")
    queue.ask("c", "c1")
    queue.ask("b", "b2")
    queue.ready()
    assert [queue.finish() for _ in range(6)] == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_was_served_is_last_also_when_others_come_later(queue):
    queue.ask("a", "a1")
    queue.ready()
    queue.ask("a", "a2")
    queue.ask("b", "b1")
    assert [queue.finish() for _ in range(3)] == ["a1", "b1", "a2"]
    queue.ask("a", "a3")
    queue.ask("a", "a4")
    queue.ask("b", "b2")
    assert [queue.finish() for _ in range(3)] == ["a3", "b2", "a4"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30))
def test_whatever_is_asked_is_done_once_and_nobody_overtakes_by_asking_for_more(asked):
    queue = FakeQueue()
    taken = []
    for client, argument in asked:
        try:
            queue.ask(client, argument)
            taken.append((client, argument))
        except Refused:
            assert len(queue.of(client)) == MOST_WAITING
    order = [see(queue, "a", argument) for argument in {argument for _, argument in taken}]
    if not taken:
        return
    assert sorted(seen.before for seen in order) == list(range(len(order)))
    places = {argument: see(queue, "a", argument).before for _, argument in taken}
    queue.ready()
    done = [queue.finish() for _ in range(len(order))]
    assert done == sorted(places, key=places.get)
    turns = len({client for client, _ in taken})
    first = dict(reversed(taken))
    assert all(done.index(argument) < turns for argument in first.values())


def test_the_same_is_done_once_and_goes_on_until_the_last_has_left(queue):
    numbers = {queue.ask(client, "same") for client in "abc"}
    assert len(numbers) == 1
    (number,) = numbers
    queue.ready()
    queue.step(0.4, 6)
    assert [(see(queue, c, "same").mine, see(queue, c, "same").step.share) for c in "abd"] == [
        (True, 0.4), (True, 0.4), (False, 0.4),
    ]  # fmt: skip
    queue.stop("a", number)
    queue.stop("d", number)  # has nothing to say here
    queue.stop("b", number)
    assert not see(queue, "a", "same").mine
    assert see(queue, "c", "same").state == "running"
    assert Stop(number) not in queue.worker.said
    queue.stop("c", number)
    assert queue.worker.said[-1] == Stop(number)
    assert see(queue, "c", "same").stopping
    queue.finish(stopped=True)
    assert [see(queue, client, "same").state for client in "abc"] == ["stopped"] * 3
    assert queue.find("d", "job", "same") is None


def test_what_is_stopped_can_be_asked_for_anew_at_once(queue):
    number = queue.ask("a", "x")
    queue.ready()
    queue.stop("a", number)
    again = queue.ask("a", "x")
    assert again != number
    assert (see(queue, "a", "x").number, see(queue, "a", "x").before) == (again, 1)


def test_everybody_sees_their_place_and_how_long_it_takes(queue):
    queue.ask("a", "first", seconds=30)
    queue.ask("b", "second", seconds=20)
    queue.ask("c", "third", seconds=5)
    assert [(see(queue, "a", x).before, see(queue, "a", x).wait) for x in ("first", "second", "third")] == [
        (0, 0), (1, 30), (2, 50),
    ]  # fmt: skip
    queue.ready()
    queue.now += 10
    assert see(queue, "c", "third").wait == 40
    queue.step(0.5, 7)
    assert see(queue, "c", "third").wait == 27
    queue.stop("b", see(queue, "b", "second").number)
    assert (see(queue, "c", "third").before, see(queue, "c", "third").wait) == (1, 7)
    assert see(queue, "b", "second").state == "stopped"


def test_a_client_has_but_a_few_waiting_and_may_still_join_what_runs(queue):
    queue.ask("b", "runs")
    queue.ready()
    for number in range(MOST_WAITING):
        queue.ask("a", number)
    with pytest.raises(Refused, match="3 of yours are waiting already"):
        queue.ask("a", "one more")
    queue.ask("c", "of another")
    with pytest.raises(Refused):
        queue.ask("a", "of another")
    queue.ask("a", 0)
    assert queue.ask("a", "runs") == queue.running().number


def test_a_closed_tab_is_left_out_after_a_while_and_a_short_absence_costs_nothing(queue):
    there = {"a": True, "b": True}
    for client in there:
        queue.submit(client, Request("job", client, 1, 100), lambda client=client: there[client])
    queue.ready()
    there["a"] = False
    for _ in range(3):
        queue.now += GRACE / 2
        queue.tick()
        there["a"] = not there["a"]  # back before the time is over
    assert not see(queue, "a", "a").stopping
    there |= {"a": False, "b": False}
    queue.now += GRACE + 1
    queue.tick()
    assert see(queue, "a", "a").stopping
    assert see(queue, "b", "b").state == "stopped"


def test_whoever_reloads_the_page_takes_over_what_they_had_asked_for(queue):
    there = {"before": True}
    queue.submit("before", Request("job", "x", 1, 100), lambda: there["before"])
    queue.ready()
    assert not queue.find("after", "job", "x", lambda: True).mine
    there["before"] = False
    assert queue.find("after", "job", "x", lambda: True).mine
    queue.now += GRACE + 1
    queue.tick()
    assert not see(queue, "after", "x").stopping


def test_whoever_has_too_much_waiting_sees_what_nobody_wants_any_more(queue):
    there = {"gone": True}
    queue.ask("a", "runs")
    queue.ready()
    queue.submit("gone", Request("job", "x", 1, 100), lambda: there["gone"])
    for number in range(MOST_WAITING):
        queue.ask("a", number)
    there["gone"] = False
    assert not queue.find("a", "job", "x", lambda: True).mine


def test_many_threads_may_ask_at_once(queue):
    def ask(client: str) -> None:
        for number in range(MOST_WAITING):
            queue.ask(client, f"{client} {number}")

    threads = [threading.Thread(target=ask, args=(f"client {number}",)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.ready()
    done = [queue.finish() for _ in range(20 * MOST_WAITING)]
    for turn in range(MOST_WAITING):  # everybody once, before anybody once more
        served = Counter(argument.rsplit(" ", 1)[0] for argument in done[20 * turn : 20 * (turn + 1)])
        assert set(served.values()) == {1}
