"""The worker as a real process, with a real queue: if one job fails, the others still run."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.hosted.waiting import until
from tests.tfm_ui.jobs import job_table
from tfm_ui.jobs import exact as jobs
from tfm_ui.jobs import queue as queue_module
from tfm_ui.jobs.exact import LEAKS
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.process import Process
from tfm_ui.jobs.queue import Queue
from tfm_ui.lenses.masks.leaks.moved import Leaks
from tfm_ui.lenses.masks.masked_passes import in_full
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import exact, shared

TABLE = "tests.tfm_ui.jobs.job_table:JOBS"


@pytest.fixture
def workers() -> list[Process]:
    return []


@pytest.fixture
def queue(workers: list[Process]) -> Iterator[Queue]:
    def hire(heard: Any, **options: Any) -> Process:
        workers.append(Process(heard, table=TABLE, memory=300_000_000))
        return workers[-1]

    queue = Queue(hire)
    yield queue
    queue.close()


def ask(queue: Queue, name: str, argument: Any) -> int:
    return queue.submit("visitor", Request(name, argument, seconds=1, limit=60), Tab("tab"))


def state(queue: Queue, name: str, argument: Any) -> Any:
    status = queue.find("visitor", name, argument)
    assert status
    return status


def ends(queue: Queue, name: str, argument: Any) -> Any:
    until(lambda: not state(queue, name, argument).under_way)
    return state(queue, name, argument)


def test_a_worker_lives_through_all_that_jobs_do(queue, workers, monkeypatch):
    monkeypatch.setattr(queue_module, "OBEYS", 60.0)  # however slow the machine is, whoever obeys is not killed
    ask(queue, "count", 3)
    done = ends(queue, "count", 3)
    assert (done.state, done.problem, done.step) == ("done", "", job_table.Count(1.0, doing="3 of 3"))

    number = ask(queue, "slowly", 0.02)
    until(lambda: state(queue, "slowly", 0.02).step is not None)
    queue.stop("visitor", number)
    stopped = ends(queue, "slowly", 0.02)
    assert (stopped.state, stopped.problem) == ("stopped", "")
    assert stopped.step.share > 0

    ask(queue, "broken", "a\nreason")
    broken = ends(queue, "broken", "a\nreason")
    assert (broken.state, broken.problem, broken.step.share) == ("failed", "ValueError: a reason", 0.5)

    ask(queue, "memory", 10**12)
    too_much = ends(queue, "memory", 10**12)
    assert too_much.problem == "It needed more memory than the 0.3 GB that it may take here."
    ask(queue, "memory", 10**7)
    assert ends(queue, "memory", 10**7).step.held == 10**7
    assert len(workers) == 1

    ask(queue, "slowly", 0.03)
    ask(queue, "count", 4)
    until(lambda: state(queue, "slowly", 0.03).step is not None)
    os.kill(workers[0].pid, signal.SIGKILL)
    killed = ends(queue, "slowly", 0.03)
    assert (killed.state, killed.step.share > 0) == ("failed", True)
    assert killed.problem == "The process that worked on it was ended by signal 9, as when memory runs out."
    assert ends(queue, "count", 4).state == "done"
    assert len(workers) == 2

    monkeypatch.setattr(queue_module, "OBEYS", 0.1)
    number = ask(queue, "deaf", None)
    until(lambda: state(queue, "deaf", None).step is not None)
    queue.stop("visitor", number)
    assert ends(queue, "deaf", None).state == "stopped"


def test_a_worker_ends_with_the_server_even_in_the_middle_of_a_job():
    heard: list[Any] = []
    worker = Process(lambda _, message: heard.append(message), table=TABLE)
    worker.say(queue_module.Start(1, "deaf", None))
    until(lambda: any(isinstance(message, queue_module.Stepped) for message in heard))
    worker._process.stdin.close()  # as when the server is killed
    until(lambda: heard[-1] == queue_module.WorkerExited(0))


def test_a_worker_that_cannot_start_is_told():
    queue = Queue(partial(Process, table="tests.tfm_ui.no_such_table:JOBS"))
    ask(queue, "count", 1)
    ended = ends(queue, "count", 1)
    assert (ended.state, ended.problem) == (
        "failed",
        "The worker process could not start; it ended with code 1.",
    )
    queue.close()


@pytest.mark.parametrize(
    "code",
    [
        "import sys, tfm_ui.jobs.queue, tfm_ui.jobs.table; sys.exit('torch' in sys.modules)",
        "import sys, pkgutil; from tfm_ui.jobs.table import JOBS; list(map(pkgutil.resolve_name, JOBS.values())); "
        "sys.exit('streamlit' in sys.modules or 'pandas' in sys.modules)",
    ],
)
def test_the_apps_own_table_is_found_without_its_imports_and_its_jobs_need_nothing_that_draws_pages(code):
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_worker_keeps_is_what_a_page_computes():
    expected = Leaks(ModelState(), MasksState(item=1))
    test = in_full(expected.setting, expected.plan.tries)
    key = exact.key_of(LEAKS, test)
    queue = Queue()
    request = Request(LEAKS, test, seconds=1, limit=60, then=partial(jobs.keep, key, "1.2.3.4"))
    try:
        queue.submit("visitor", request, Tab("tab"))
        ended = ends(queue, LEAKS, test)
    finally:
        queue.close()
    assert (ended.state, ended.problem, ended.step.share) == ("done", "", 1.0)
    assert not ended.step.numbers  # the queue remembers the step
    assert shared.store().entry(exact.EXACT, key).owner == "1.2.3.4"
    kept = exact.read(key)
    assert kept["moved"].sub(expected.influence.moved).abs().max() < expected.influence.tolerance
    shared.store().remove(exact.EXACT, key)
