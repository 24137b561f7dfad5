"""The processes of a running server: within the host's memory, replaced when killed, and gone when the server ends."""

import secrets
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psutil

from tests.attacks.strangers import LARGE, Server
from tests.hosted.waiting import standing_still, until

GIGABYTE = 10**9
ROLES = {"worker": 2, "forks workers": 1, "tracks resources": 1, "jobs": 1}
LARGEST_HOSTED = LARGE | {"seq_len": 256, "num_layers": 4}


def slow_model() -> dict[str, object]:
    """A model that is in no cache."""
    return LARGEST_HOSTED | {"seed": secrets.randbelow(9999)}


def memory_stays_within_that_of_a_small_host(hosted: Server) -> None:
    visitors = 30
    hosted.forget_peaks()
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


def whichever_process_is_killed_the_server_answers(hosted: Server) -> None:
    """Each process is killed in turn; a page's script is the main module of its process."""
    with hosted.tabs("training", [{}]) as tabs:  # the lens whose page starts the process that trains
        assert tabs.wait() == 1
        until(lambda: hosted.status["job_worker"]["ready"])
    processes_by_role = defaultdict(list)
    for process in processes(hosted):
        processes_by_role[role_of(hosted, process)].append(process)
    assert {role: len(each) for role, each in processes_by_role.items()} == ROLES
    workers = processes_by_role.pop("worker")
    for worker in workers:
        kill(hosted, worker)
    assert [worker["restarts"] for worker in hosted.workers] == [1, 1]
    for [process] in processes_by_role.values():
        kill(hosted, process)


def kill(hosted: Server, victim: psutil.Process) -> None:
    """End a process while a slow picture is computed, which all who have asked get."""
    with ThreadPoolExecutor(1) as thread:
        with standing_still([worker["pid"] for worker in hosted.workers]):
            slow = thread.submit(hosted.ask, "heads+head", slow_model())
            until(lambda: any(worker["busy"] for worker in hosted.workers))
            victim.kill()
        hosted.quiet_visitor(within=10)
        assert slow.result()[0] == 200
    until(lambda: victim not in processes(hosted))
    until(lambda: Counter(map(partial(role_of, hosted), processes(hosted))) == ROLES)
    until(lambda: all(worker["alive"] for worker in hosted.workers) and hosted.status["job_worker"]["ready"])


def processes(server: Server) -> list[psutil.Process]:
    """What the server has started; by its status, as a worker is no descendant once what forked it was killed."""
    return [
        psutil.Process(told["pid"])
        for told in server.status["memory"]["processes"]
        if psutil.pid_exists(told["pid"]) and told["pid"] != server.pid
    ]


def role_of(server: Server, process: psutil.Process) -> str:
    """What a process of the server does; "" once it has ended."""
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return ""
    if process.pid in {worker["pid"] for worker in server.workers}:
        return "worker"
    if "tfm_ui.jobs.worker" in words:
        return "jobs"
    if "resource_tracker" in words:
        return "tracks resources"
    return "forks workers" if "forkserver" in words else ""


def ended_at_once(hosted: Server) -> None:
    """The server is killed while it computes, and leaves no process behind; tests/hosted/test_starts.py has signals
    that it hears.
    """
    processes = hosted.processes
    assert len(processes) >= 4, "Streamlit's process, two workers, and the one from which they were forked"
    with ThreadPoolExecutor(2) as threads:
        with standing_still([worker["pid"] for worker in hosted.workers]):
            for _ in range(2):
                threads.submit(hosted.ask, "heads", slow_model()).add_done_callback(
                    lambda answer: answer.exception()  # the connection breaks
                )
            until(lambda: any(worker["busy"] for worker in hosted.workers))
            processes[0].kill()
        gone, alive = psutil.wait_procs(processes[1:], timeout=15)
    assert (len(gone), alive) == (len(processes) - 1, [])
