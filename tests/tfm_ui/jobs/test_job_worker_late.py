"""The process that measures and trains starts on a small host with a job, not with a page that offers it."""

from dataclasses import replace

import pytest

from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Request


@pytest.mark.parametrize(("when", "workers"), [("early", 1), ("late", 0)])
def test_the_worker_starts_when_the_setting_says(monkeypatch, when, workers):
    queue = FakeQueue()
    monkeypatch.setattr(sessions, "_queues", [queue])
    monkeypatch.setattr(sessions, "SETTINGS", replace(sessions.SETTINGS, job_worker=when))
    assert sessions.mine() == []
    assert len(queue.workers) == workers
    number = sessions.submit(Request("job", "x", 1, 10))
    assert len(queue.workers) == 1
    queue.ready()
    assert queue.running().number == number
    queue.close()
