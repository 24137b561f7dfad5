"""The server's one queue, and its visitors as the queue's clients."""

from types import SimpleNamespace

import pytest

from tests.tfm_ui.fake_worker import FakeQueue
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Request
from tfm_ui.jobs.queue import GRACE


@pytest.fixture
def visitor(monkeypatch):
    """Whose script runs, and who is there; the queue's workers are played."""
    found = SimpleNamespace(session_id="one", there={"one", "two"})
    monkeypatch.setattr(sessions, "_queues", [])
    monkeypatch.setattr(sessions, "Queue", FakeQueue)
    monkeypatch.setattr(sessions.atexit, "register", lambda _: None)
    monkeypatch.setattr(sessions, "get_script_run_ctx", lambda **_: found)
    runtime = SimpleNamespace(is_active_session=lambda client: client in found.there)
    monkeypatch.setattr(sessions, "Runtime", SimpleNamespace(exists=lambda: True, instance=lambda: runtime))
    return found


def test_there_is_one_queue_and_its_worker_is_on_the_way(visitor):
    assert sessions.queue() is sessions.queue()
    assert len(sessions.queue().workers) == 1


def test_a_visitor_is_a_client_as_long_as_the_tab_is_open(visitor):
    number = sessions.submit(Request("profile", "x", 1, 100))
    sessions.queue().ready()
    assert sessions.find("profile", "x").mine
    assert [seen.number for seen in sessions.mine()] == [number]
    visitor.session_id = "two"
    assert not sessions.find("profile", "x").mine
    assert sessions.mine() == []
    visitor.there.remove("one")
    sessions.queue().now += GRACE + 1
    sessions.queue().tick()
    assert sessions.queue()._running.told_to_stop is not None


def test_after_a_reload_the_new_session_takes_it_over(visitor):
    number = sessions.submit(Request("profile", "x", 1, 100))
    visitor.there, visitor.session_id = {"two"}, "two"
    assert sessions.find("profile", "x").mine
    sessions.stop(number)
    visitor.session_id = "one"
    sessions.stop(number)
    assert sessions.find("profile", "x").state == "stopped"
