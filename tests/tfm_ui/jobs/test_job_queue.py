"""The order of jobs, and visitors who join or leave a job: with a fake worker."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.jobs.fake_worker import FakeQueue, see
from tfm_ui.jobs.caps import IN_ALL, OF_ADDRESS, OF_VISITOR, cap
from tfm_ui.jobs.job import Job, Load, Refused, Request, Tab
from tfm_ui.jobs.messages import Stop
from tfm_ui.jobs.queue import GRACE
from tfm_ui.settings import Settings


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


def test_visitors_take_turns_and_each_keeps_its_order(queue):
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
    for visitor, argument in asked:
        try:
            queue.ask(visitor, argument)
            taken.append((visitor, argument))
        except Refused:
            assert len(queue.of(visitor)) == OF_VISITOR.jobs
    order = [see(queue, "a", argument) for argument in {argument for _, argument in taken}]
    if not taken:
        return
    assert sorted(status.before for status in order) == list(range(len(order)))
    places = {argument: see(queue, "a", argument).before for _, argument in taken}
    queue.ready()
    done = [queue.finish() for _ in range(len(order))]
    assert done == sorted(places, key=places.get)
    turns = len({visitor for visitor, _ in taken})
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


def test_twenty_tabs_of_one_visitor_put_one_job_before_the_next_visitors_first(queue):
    refused = 0
    for number in range(20):
        try:
            queue.ask("hers", number, tab=f"tab {number}", seconds=105)
        except Refused:
            refused += 1
    assert refused == 20 - OF_VISITOR.jobs  # of all tabs together
    queue.ready()
    queue.ask("hers", "one more, as one of them runs", tab="another tab", seconds=105)
    queue.ask("his", "first", seconds=105)
    assert (see(queue, "his", "first").before, see(queue, "his", "first").wait) == (1, 105)
    assert [queue.finish() for _ in range(2)] == [0, "first"]


def test_invented_cookies_of_one_address_put_one_job_before_another_addresss_first(queue):
    for number in range(OF_ADDRESS.jobs):
        queue.ask(f"203.0.113.7 cookie{number}", number)
    with pytest.raises(Refused, match="32 jobs from your network are waiting already"):
        queue.ask("203.0.113.7 one-more", "x")
    queue.ready()
    queue.ask("203.0.113.7 one-more", "as one of them runs")
    queue.ask("198.51.100.1 a-cookie", "first")
    assert see(queue, "198.51.100.1 a-cookie", "first").before == 1
    queue.ask("198.51.100.1 a-cookie", "second")
    order = [queue.finish() for _ in range(OF_ADDRESS.jobs + 3)]
    assert order[:4] == [0, "first", 1, "second"]  # addresses take turns


def test_a_class_behind_one_address_are_visitors_of_their_own(queue):
    for number in range(30):
        queue.ask(f"203.0.113.7 student{number}", number, seconds=60)
    queue.ask("203.0.113.7 student0", "again", seconds=60)
    queue.ready()
    assert [queue.finish() for _ in range(31)] == [*range(30), "again"]


def test_what_is_full_is_said_with_what_helps(queue):
    queue.ask("a", "runs")
    queue.ready()
    queue.ask("b", "long", seconds=200)
    with pytest.raises(Refused) as refused:
        queue.ask("b", "long too", seconds=170)
    assert str(refused.value) == (
        "1 job of yours is waiting already, 4 min of work; with this one it would be 7 min, and 6 min is the most. "
        "Wait for one of them, stop it, or ask for something shorter."
    )
    queue.ask("b", "short", seconds=160)
    for number in range(15):
        queue.ask(f"192.0.2.1 {number}", f"of an address {number}", seconds=160)
    with pytest.raises(Refused, match="15 jobs from your network are waiting already, 40 min of work"):
        queue.ask("192.0.2.1 another", "y", seconds=160)
    for number in range(5):
        queue.ask(f"192.0.2.{number + 2}", f"of others {number}", seconds=160)
    with pytest.raises(Refused, match=r"22 jobs of all visitors are waiting already, 60 min of work; .*60 min is the"):
        queue.ask("192.0.2.50", "y", seconds=160)
    queue.ask("192.0.2.50", "short")  # joined
    assert see(queue, "192.0.2.50", "short").mine


def test_no_more_than_so_many_wait_in_all(queue):
    for number in range(IN_ALL.jobs):
        queue.ask(f"192.0.2.{number}", number, seconds=1)
    with pytest.raises(Refused, match=r"40 jobs of all visitors are waiting already, the most that there may be\."):
        queue.ask("192.0.2.100", "x", seconds=1)


def test_a_visitor_has_but_a_few_waiting_and_may_still_join_what_runs(queue):
    queue.ask("b", "runs")
    queue.ready()
    for number in range(OF_VISITOR.jobs):
        queue.ask("a", number)
    with pytest.raises(Refused, match="3 jobs of yours are waiting already"):
        queue.ask("a", "one more")
    queue.ask("c", "of another")
    with pytest.raises(Refused):
        queue.ask("a", "of another")
    queue.ask("a", 0)
    assert queue.ask("a", "runs") == queue.running().number


def test_many_threads_may_ask_at_once(queue):
    visitors = 12

    def ask(visitor: str) -> None:
        for number in range(OF_VISITOR.jobs):
            queue.ask(visitor, f"{visitor} {number}")

    threads = [threading.Thread(target=ask, args=(f"visitor{number}",)) for number in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.ready()
    done = [queue.finish() for _ in range(visitors * OF_VISITOR.jobs)]
    for turn in range(OF_VISITOR.jobs):  # everybody once, before anybody once more
        served = Counter(argument.rsplit(" ", 1)[0] for argument in done[visitors * turn : visitors * (turn + 1)])
        assert set(served.values()) == {1}


def test_a_job_that_is_too_long_for_the_server_is_refused_and_the_setting_named(queue, monkeypatch):
    monkeypatch.setattr("tfm_ui.jobs.caps.SETTINGS", Settings(job_seconds=30))
    queue.ask("a", "short", seconds=30)
    with pytest.raises(Refused) as refusal:
        queue.ask("a", "long", seconds=45)
    assert str(refusal.value) == (
        "It would take about 45 seconds; 30 seconds are the most for one job "
        "(this server's setting ATTENTION_LAB_JOB_SECONDS). Ask for something shorter."
    )


def test_a_cap_names_its_setting_where_it_is_lower_than_usual(monkeypatch):
    lower = Settings(jobs_per_visitor=1, job_time_per_visitor=60)
    monkeypatch.setattr("tfm_ui.jobs.caps.SETTINGS", lower)
    few = cap("jobs_per_visitor", "job_time_per_visitor", "{} of yours", "Wait.")
    with pytest.raises(Refused, match=r"the most that there may be \(this server's setting \w+_JOBS_PER_VISITOR\)\."):
        few.check([Job(1, Request("x", 0, 1, 1))], 1)
    short = cap("jobs", "job_time_per_visitor", "{} of yours", "Wait.")
    with pytest.raises(Refused, match=r"1 min is the most \(this server's setting \w+_JOB_MINUTES_PER_VISITOR\)\."):
        short.check([Job(1, Request("x", 0, 50, 50))], 50)


def test_the_load_counts_what_runs_and_what_waits(queue):
    assert queue.load() == Load()
    queue.ask("a", "a1")
    queue.ask("b", "b1")
    assert queue.load() == Load(running=0, waiting=2, started=True, ready=False)
    queue.ready()
    assert queue.load() == Load(running=1, waiting=1, started=True, ready=True)


# visitors who close or reload tabs, or stop jobs


def test_what_a_visitor_asked_for_ends_a_while_after_their_last_tab_is_closed(queue):
    there = {"a": True, "b": True}
    tabs = {visitor: Tab("one", lambda visitor=visitor: there[visitor]) for visitor in there}
    for visitor, tab in tabs.items():
        queue.submit(visitor, Request("job", visitor, 1, 100), tab)
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


def test_after_a_reload_it_goes_on_and_one_stop_ends_it(queue):
    there = {"before": True}
    number = queue.submit("a", Request("job", "x", 1, 100), Tab("before", lambda: there["before"]))
    queue.ready()
    after = Tab("after")
    assert queue.find("a", "job", "x", after).mine  # though the server has not noticed yet that the old page is gone
    there["before"] = False
    queue.now += GRACE + 1
    queue.tick()
    assert not see(queue, "a", "x").stopping
    queue.stop("a", number)
    assert queue.worker.said[-1] == Stop(number)
    assert see(queue, "a", "x").stopping


def test_one_stop_in_any_tab_is_enough(queue):
    number = queue.ask("a", "x", tab="one")
    queue.ask("a", "x", tab="two")
    queue.ready()
    queue.stop("a", number)
    assert queue.worker.said[-1] == Stop(number)


def test_tabs_of_who_waits_for_nothing_are_forgotten(queue):
    queue.ask("a", "x")
    queue.find("b", "job", "x", Tab("looks on"))
    queue.ready()
    queue.finish()
    queue.tick()
    assert queue._tabs == {}
