"""The processes of a running server: replaced when killed, within the host's memory, and gone when the server ends."""

import http.client
import json
import secrets
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psutil

from benchmarks.live.serve import running_server
from tests.attacks.strangers import LARGE, Server

GIGABYTE = 10**9
HOSTED = {"ATTENTION_LAB_PRESET": "hosted", "ATTENTION_LAB_JOB_WORKER": "early"}  # what a host with 1 GB is set to
LARGEST_HOSTED = LARGE | {"seq_len": 256, "num_layers": 4}


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + 60
    while not what():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def workers(server: Server) -> list[dict[str, int]]:
    return status(server)["workers"]


def status(server: Server) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", "/status", headers={"Accept": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def slow_model() -> dict[str, object]:
    """A model that is in no cache."""
    return LARGEST_HOSTED | {"seed": secrets.randbelow(9999)}


def killed_workers_are_replaced(hosted: Server) -> None:
    """Workers are killed while pages and pictures are answered; a page's script is the main module of its process."""
    with hosted.tabs("heads", [{"seed": 1}]) as tabs:
        assert tabs.wait() == 1
    before = workers(hosted)
    assert len(before) == 2
    for worker in before:
        with ThreadPoolExecutor(4) as threads:
            answers = [
                threads.submit(hosted.ask, "heads+head", slow_model(), visitor=str(number)) for number in range(4)
            ]
            until(lambda: any(now["busy"] for now in workers(hosted)))
            psutil.Process(worker["pid"]).send_signal(signal.SIGKILL)
            hosted.quiet_visitor()
            assert {answer.result()[0] for answer in answers} == {200}
    until(lambda: all(worker["alive"] for worker in workers(hosted)))
    assert [worker["restarts"] for worker in workers(hosted)] == [1, 1]
    assert {worker["pid"] for worker in workers(hosted)}.isdisjoint(worker["pid"] for worker in before)
    hosted.quiet_visitor()


def whichever_process_is_killed_the_server_answers(hosted: Server) -> None:
    """Each process is killed in turn, at rest and while slow pictures are computed."""
    with hosted.tabs("training", [{}]) as tabs:  # the lens whose page starts the process that trains
        assert tabs.wait() == 1
        until(lambda: status(hosted)["job_worker"]["ready"])
    for under_load in (False, True):
        roles = Counter(map(partial(role_of, hosted), processes(hosted)))
        assert roles == {"worker": 2, "forks workers": 1, "tracks resources": 1, "jobs": 1}
        for role in roles:
            kill(hosted, role, under_load=under_load)


def kill(hosted: Server, role: str, *, under_load: bool) -> None:
    with ThreadPoolExecutor(2) as threads:
        slow = [threads.submit(hosted.ask, "heads+head", slow_model(), visitor=str(n)) for n in range(2 * under_load)]
        if slow:
            until(lambda: any(now["busy"] for now in workers(hosted)))
        victim = next(process for process in processes(hosted) if role_of(hosted, process) == role)
        victim.kill()
        hosted.quiet_visitor(within=10)
        assert {answer.result()[0] for answer in slow} <= {200}
    until(lambda: victim not in processes(hosted) and role in map(partial(role_of, hosted), processes(hosted)))
    until(lambda: all(worker["alive"] for worker in workers(hosted)) and status(hosted)["job_worker"]["ready"])


def processes(server: Server) -> list[psutil.Process]:
    """What the server has started; by its status, as a worker is no descendant once what forked it was killed."""
    return [
        psutil.Process(told["pid"])
        for told in status(server)["memory"]["processes"]
        if psutil.pid_exists(told["pid"]) and told["pid"] != server.pid
    ]


def role_of(server: Server, process: psutil.Process) -> str:
    """What a process of the server does; "" once it has ended."""
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return ""
    if process.pid in {worker["pid"] for worker in workers(server)}:
        return "worker"
    if "tfm_ui.jobs.worker" in words:
        return "jobs"
    if "resource_tracker" in words:
        return "tracks resources"
    return "forks workers" if "forkserver" in words else ""


def memory_stays_within_that_of_a_small_host(hosted: Server) -> None:
    visitors = 30
    with hosted.tabs("heads", [{"seed": seed} for seed in range(visitors)], visitors=visitors) as tabs:
        assert tabs.wait() == visitors
        with ThreadPoolExecutor(8) as threads:
            quick = [
                threads.submit(
                    hosted.ask, "heads+head+heads.words", {"seed": 100 + n}, visitor=f"visitor-{n % visitors}"
                )
                for n in range(200)
            ]
            slow = [threads.submit(hosted.ask, "heads+steps", slow_model(), visitor=f"visitor-{n}") for n in range(12)]
            assert {answer.result()[0] for answer in (*quick, *slow)} == {200}
    assert hosted.memory["most"] < GIGABYTE


def ended_at_once(hosted: Server) -> None:
    """The server is killed while it computes, and leaves no process behind; tests/hosted/test_shutdown.py has signals
    that it hears.
    """
    processes = hosted.processes
    assert len(processes) >= 4, "Streamlit's process, two workers, and the one from which they were forked"
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(hosted.ask, "heads", slow_model()).add_done_callback(
                lambda answer: answer.exception()  # the connection breaks, or there is an answer just before
            )
        until(lambda: any(worker["busy"] for worker in workers(hosted)))
        processes[0].kill()
        gone, alive = psutil.wait_procs(processes[1:], timeout=15)
    assert (len(gone), alive) == (len(processes) - 1, [])


def test_a_small_host_stays_within_its_memory_replaces_workers_and_leaves_nothing_behind():
    with running_server(settings=HOSTED) as (address, pid):
        hosted = Server(int(address.rpartition(":")[2]), pid)
        memory_stays_within_that_of_a_small_host(hosted)  # first, as only a peak of memory can be read
        killed_workers_are_replaced(hosted)
        whichever_process_is_killed_the_server_answers(hosted)
        ended_at_once(hosted)
