"""The processes of a running server: replaced when killed, within the host's memory, and gone when the server ends."""

import http.client
import json
import secrets
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psutil

from benchmarks.live.serve import running_server
from tests.attacks.strangers import LARGE, Server

GIGABYTE = 10**9
HOSTED = {"ATTENTION_LAB_PRESET": "hosted"}  # what a host with 1 GB is set to
LARGEST_HOSTED = LARGE | {"seq_len": 256, "num_layers": 4}


def until(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + 60
    while not what():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def workers(server: Server) -> list[dict[str, int]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", "/status", headers={"Accept": "application/json"})
        return json.loads(connection.getresponse().read())["workers"]
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
        ended_at_once(hosted)
