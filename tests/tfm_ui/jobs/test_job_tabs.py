"""The queue when visitors close or reload tabs, or stop jobs: with a fake worker."""

import pytest

from tests.tfm_ui.jobs.fake_worker import FakeQueue, see
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.messages import Stop
from tfm_ui.jobs.queue import GRACE


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


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
