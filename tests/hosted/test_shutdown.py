"""Ctrl-C and SIGTERM end the app soon, with exit code 0, whatever is running; no process is left behind.

3 seconds are what is promised; how long it took is not asserted, as a busy machine takes longer. What would wait for
its pictures or its worker takes minutes.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from benchmarks.live.serve import ROOT, is_healthy

BOUND = 15  # seconds
SLOW = "seq_len=1024&d_model=256&num_layers=8&num_heads=16&text=%40faust"
MEASURE = "/profiling?profiling_rounds=30"  # of the usual sizes: a minute or more
SET_UP_ALREADY = "import run, sys; run.install = lambda _: None; sys.exit(run.main(sys.argv[1:]))"
RUN_PY = [sys.executable, "-c", SET_UP_ALREADY]  # `python3 run.py`, in whatever environment the tests run
STREAMLIT = [sys.executable, "-m", "streamlit", "run", "app.py"]


@contextmanager
def started(command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The app in a process group of its own, as a terminal's job is; and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"--server.port={port}", "--logger.level=warning"]
    app = subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        give_up = time.monotonic() + 90
        while not is_healthy(port):
            assert app.poll() is None, "the app ended before it answered"
            assert time.monotonic() < give_up, "the app did not answer"
            time.sleep(0.1)
        yield app, port
    finally:
        with suppress(ProcessLookupError):
            os.killpg(app.pid, signal.SIGKILL)
        app.wait()


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    processes = []
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            state, _, of_group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                processes.append(int(process.name))
    return processes


def ask_for_a_slow_picture(port: int) -> None:
    with suppress(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/pictures/heads", SLOW.encode(), timeout=60).close()


def ask_alone(app: subprocess.Popen[bytes], number: signal.Signals) -> None:
    app.send_signal(number)


def ask_all(app: subprocess.Popen[bytes], number: signal.Signals) -> None:
    os.killpg(app.pid, number)  # as a terminal does


@pytest.mark.parametrize(
    ("command", "ask", "number"),
    [(RUN_PY, ask_all, signal.SIGINT), (STREAMLIT, ask_alone, signal.SIGTERM)],
    ids=["run.py Ctrl-C", "streamlit SIGTERM"],
)
def test_it_ends_whatever_is_running(
    browser: Browser, command: list[str], ask: Callable[[subprocess.Popen[bytes], signal.Signals], None], number
):
    with started(command) as (app, port):
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}{MEASURE}")
        page.get_by_role("button", name="Measure", exact=True).click()
        page.get_by_role("button", name="Stop", exact=True).wait_for(timeout=60_000)  # the worker is at it
        for _ in range(2):
            Thread(target=ask_for_a_slow_picture, args=[port], daemon=True).start()
        time.sleep(0.5)  # until they compute
        assert len(members(app.pid)) >= 2, "the app and its worker"
        ask(app, number)
        assert app.wait(BOUND) == 0
        last_look = time.monotonic() + BOUND
        while (left := members(app.pid)) and time.monotonic() < last_look:
            time.sleep(0.05)
        assert left == []
        page.close()
