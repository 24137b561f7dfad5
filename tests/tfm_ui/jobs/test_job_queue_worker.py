"""What the queue does if its worker exits, does not obey, or never starts: with a fake worker."""

import subprocess
import threading

import pytest

from tests.tfm_ui.jobs.fake_worker import FakeQueue, see
from tests.tfm_ui.jobs.job_table import Count
from tfm_core.training.config import of_task
from tfm_core.training.run import Progress, Told
from tfm_core.training.train import train
from tfm_ui.jobs import process
from tfm_ui.jobs.messages import Stop, WorkerExited
from tfm_ui.jobs.queue import ATTEMPTS, OBEYS, STARTS
from tfm_ui.store.store import StoreAway


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


def test_results_that_cannot_be_kept_are_told_and_end_neither_the_worker_nor_the_thread_that_hears_it(queue):
    def fails(step):
        raise StoreAway("Redis does not answer")

    queue.ask("a", "x", then=fails)
    queue.ask("b", "y")
    queue.ready()
    queue.step(0.5)
    queue.finish()
    assert see(queue, "a", "x").state == "failed"
    assert see(queue, "a", "x").problem == "Its results could not be kept (StoreAway)."
    assert len(queue.workers) == 1
    assert queue.finish() == "y"


def test_results_are_kept_while_pages_are_answered(queue):
    """Whoever keeps them may wait for a file or for Redis: no page waits with it."""
    told_meanwhile = []

    def page():
        told_meanwhile.append((see(queue, "b", "x").state, queue.load().running))

    def slow(step):
        asks = threading.Thread(target=page, daemon=True)
        asks.start()
        asks.join(timeout=20)

    queue.ask("a", "x", then=slow)
    queue.ready()
    queue.step(0.5)
    queue.finish()
    assert told_meanwhile == [("running", 0)]
    assert see(queue, "a", "x").state == "done"


def test_a_worker_that_cannot_be_started_is_started_later(queue, monkeypatch):
    def no_memory(heard):
        raise OSError("no memory")

    hires = queue._hire
    monkeypatch.setattr(queue, "_hire", no_memory)
    queue.ask("a", "x")
    queue.tick()
    assert see(queue, "a", "x").state == "waiting"
    monkeypatch.setattr(queue, "_hire", hires)
    queue.tick()
    queue.ready()
    assert queue.finish() == "x"


def test_a_job_whose_worker_dies_ends_also_if_no_other_can_be_started(queue, monkeypatch):
    """Python says "can't start new thread" by a RuntimeError, where a container's limit of processes is reached."""

    def no_thread(heard):
        raise RuntimeError("can't start new thread")

    hires = queue._hire
    queue.ask("a", "x")
    queue.ready()
    queue.step(0.3)
    monkeypatch.setattr(queue, "_hire", no_thread)
    queue.worker.tells(WorkerExited(-9))
    assert see(queue, "a", "x").state == "failed"
    queue.ask("a", "y")
    monkeypatch.setattr(queue, "_hire", hires)
    queue.tick()
    queue.ready()
    assert queue.finish() == "y"


def test_a_watch_that_cannot_be_started_is_started_later(monkeypatch):
    queue, begun = FakeQueue(), []
    queue._watched = False

    class NoThread(threading.Thread):
        def start(self):
            begun.append(self)
            if len(begun) == 1:
                raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, "Thread", NoThread)
    queue.open()
    queue.open()
    queue.open()
    assert len(begun) == 2


def test_a_process_whose_messages_nobody_could_hear_is_ended(monkeypatch):
    def no_thread(self):
        raise RuntimeError("can't start new thread")

    started = []

    class Started(subprocess.Popen):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            started.append(self)

    monkeypatch.setattr(process.subprocess, "Popen", Started)
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with pytest.raises(RuntimeError):
        process.Process(lambda *_: None, memory=10**9)
    assert started[0].returncode == -9


def test_a_worker_that_hangs_while_it_starts_is_replaced(queue):
    queue.ask("a", "x")
    queue.now += STARTS + 0.1
    queue.tick()
    assert [worker.open for worker in queue.workers] == [False, True]
    queue.ready()
    assert queue.finish() == "x"


def test_a_job_that_does_not_obey_or_takes_too_long_loses_its_worker(queue):
    number = queue.ask("a", "deaf")
    queue.ask("b", "next")
    queue.ready()
    queue.step(0.5)
    queue.stop("a", number)
    queue.now += OBEYS + 0.1
    queue.tick()
    assert [worker.open for worker in queue.workers] == [False, True]
    assert (see(queue, "a", "deaf").state, see(queue, "a", "deaf").step) == ("stopped", Count(0.5))
    queue.ready()
    assert queue.running().argument == "next"
    queue.now += 101
    queue.tick()
    assert queue.worker.said[-1] == Stop(queue.running().number)
    queue.finish(stopped=True)
    assert see(queue, "b", "next").problem == "It was stopped after 100 seconds, the longest that a job may take."


def test_a_worker_that_dies_takes_one_job_along_and_no_other(queue):
    kept = []
    queue.ask("a", "x", then=kept.append)
    queue.ask("b", "y")
    queue.ready()
    queue.step(0.3)
    first = queue.worker
    first.tells(WorkerExited(-9))
    first.tells(WorkerExited(-9))  # messages of a replaced worker are ignored
    assert (see(queue, "a", "x").state, kept) == ("failed", [Count(0.3)])
    assert "signal 9" in see(queue, "a", "x").problem
    queue.ready()
    assert queue.finish() == "y"
    queue.worker.tells(WorkerExited(0))  # while no job waits
    assert len(queue.workers) == 3


def test_a_worker_that_never_gets_ready_is_not_started_for_ever(queue):
    queue.ask("a", "x")
    queue.ask("b", "y")
    for _ in range(ATTEMPTS):  # a single end may be that of want of memory
        assert see(queue, "a", "x").state == "waiting"
        queue.worker.tells(WorkerExited(1))
    assert [see(queue, *who).problem for who in (("a", "x"), ("b", "y"))] == [
        "The worker process could not start; it ended with code 1."
    ] * 2
    assert len(queue.workers) == ATTEMPTS
    queue.ask("a", "x")
    assert len(queue.workers) == ATTEMPTS + 1


def test_what_failed_says_why_and_the_last_step_is_handed_on(queue):
    kept = []
    queue.ask("a", "x", then=kept.append)
    queue.ready()
    queue.finish(problem="ValueError: no.")
    assert (see(queue, "a", "x").state, see(queue, "a", "x").problem, kept) == ("failed", "ValueError: no.", [])


def test_of_a_job_that_has_ended_its_results_are_not_remembered(queue):
    """A run of training has up to 24 MB, and 64 ended jobs are remembered."""
    kept: list[Progress] = []
    queue.ask("a", "x", then=kept.append)
    queue.ready()
    run = next(train(of_task("reverse", steps=1))).run
    queue.step(1.0, step=Progress(1.0, 0.0, "done", run))
    assert see(queue, "a", "x").step.run is run
    queue.finish()
    assert kept[0].run is run
    assert see(queue, "a", "x").step == Told(1.0, 0.0, "done")


def test_a_closed_queue_starts_nothing(queue):
    queue.ask("a", "x")
    worker = queue.worker
    queue.close()
    assert not worker.open
    queue.open()
    queue.ask("a", "y")
    assert len(queue.workers) == 1
