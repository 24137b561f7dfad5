"""The server's one queue, for the visitor whose page script runs."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.tfm_ui.cookies import masked
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Refused, Request
from tfm_ui.jobs.queue import GRACE
from tfm_ui.streamlit_private import running, script_run
from tfm_ui.visitors import metrics
from tfm_ui.visitors.visitor import COOKIE


@pytest.fixture
def script(monkeypatch):
    """The running script's session and browser, and the open tabs; the queue's workers are fake."""
    context = SimpleNamespace(session_id="one", open={"one", "two"}, browser=b"a browser's token")
    monkeypatch.setattr(sessions, "_queues", [])
    monkeypatch.setattr(sessions, "Queue", FakeQueue)
    monkeypatch.setattr(sessions.atexit, "register", lambda _: None)
    monkeypatch.setattr(script_run, "get_script_run_ctx", lambda **_: context)
    runtime = SimpleNamespace(is_active_session=lambda name: name in context.open)
    monkeypatch.setattr(running, "Runtime", SimpleNamespace(exists=lambda: True, instance=lambda: runtime))

    class Context:
        ip_address = "203.0.113.7"

        @property
        def cookies(self):
            return {COOKIE: masked(context.browser)} if context.browser else {}

    monkeypatch.setattr("streamlit.context", Context())
    return context


def test_there_is_one_queue_and_its_worker_is_on_the_way(script):
    assert sessions.queue() is sessions.queue()
    assert len(sessions.queue().workers) == 1


def test_all_tabs_of_a_browser_are_one_visitor_who_is_there_as_long_as_one_is_open(script):
    number = sessions.submit(Request("profile", "x", 1, 100))
    sessions.queue().ready()
    script.session_id = "two"
    assert sessions.find("profile", "x").mine
    assert [status.number for status in sessions.mine()] == [number]
    for still_open in ({"two"}, set()):
        script.open = still_open
        sessions.queue().now += GRACE + 1
        sessions.queue().tick()
        assert (sessions.queue()._running.told_to_stop is None) == bool(still_open)


@pytest.mark.parametrize("other", [b"another browser's", b""])
def test_other_browsers_behind_the_address_are_other_visitors(script, other):
    number = sessions.submit(Request("profile", "x", 1, 100))
    script.browser, script.session_id = other, "two"
    assert not sessions.find("profile", "x").mine
    assert sessions.mine() == []
    sessions.stop(number)
    assert sessions.find("profile", "x").under_way


def test_after_a_reload_one_stop_ends_it(script):
    number = sessions.submit(Request("profile", "x", 1, 100))
    script.session_id = "two"  # the server may not have noticed yet that the first is gone
    assert sessions.find("profile", "x").mine
    sessions.stop(number)
    assert sessions.find("profile", "x").state == "stopped"


def test_a_refused_job_is_counted_whoever_asks_for_it(script, monkeypatch):
    def refused() -> float:
        return metrics.REGISTRY.get_sample_value("attention_lab_refused_total", {"limit": "jobs"}) or 0

    def refuse(*_):
        raise Refused("Too many wait already.")

    before = refused()
    monkeypatch.setattr(FakeQueue, "submit", refuse)
    with pytest.raises(Refused):
        sessions.submit(Request("job", 1, seconds=1, limit=1, then=""))
    assert refused() == before + 1


@pytest.mark.parametrize(("when", "workers"), [("early", 1), ("late", 0)])
def test_the_worker_starts_when_the_setting_says(script, monkeypatch, when, workers):
    """The worker starts on a small host with a job, not with a page that offers it."""
    monkeypatch.setattr(sessions, "SETTINGS", replace(sessions.SETTINGS, job_worker=when))
    assert sessions.mine() == []
    assert len(sessions.queue().workers) == workers
    number = sessions.submit(Request("job", "x", 1, 10))
    assert len(sessions.queue().workers) == 1
    sessions.queue().ready()
    assert sessions.queue().running().number == number
