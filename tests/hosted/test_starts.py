"""The app as it is started elsewhere, below a path and on Community Cloud; and that Ctrl-C and SIGTERM end it soon.

It ends with exit code 0, whatever is running, and leaves no process behind. 3 seconds are what is promised; how long it
took is not asserted, as a busy machine takes longer.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Response, expect

from benchmarks.live.replicas import answer
from benchmarks.live.serve import EXPECTED_404, ROOT, is_healthy
from benchmarks.streamlit_private.dom import LENSES
from tests.browser.links import same
from tests.hosted.waiting import standing_still, until
from tfm_ui.lenses import NAMES

BOUND = 15  # seconds
LINK = "/heads?text=one+link%2C+one+picture&seq_len=7&num_heads=8&seed=3&positional=rope&heads_head=5"
MEASURE = "/profiling?profiling_rounds=30"  # of the usual sizes: a minute or more
SET_UP_ALREADY = "import run, sys; run.install = lambda _: None; sys.exit(run.main(sys.argv[1:]))"
RUN_PY = [sys.executable, "-c", SET_UP_ALREADY]  # `python3 run.py`, in whatever environment the tests run
CLOUD = [sys.executable, "-m", "streamlit", "run", "hosting/cloud/streamlit_app.py"]


@contextmanager
def started(*command: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The app in a process group of its own, as a terminal's job is; and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"--server.port={port}", "--server.address=127.0.0.1", "--logger.level=warning"]
    app = subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)

    def answers() -> bool:
        assert app.poll() is None, "the app ended before it answered"
        return is_healthy(port)

    try:
        until(answers, within=90)
        yield app, f"http://127.0.0.1:{port}"
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


def status_of(address: str) -> dict[str, Any]:
    """What the server tells of itself."""
    return json.loads(answer(f"{address}/status", accepts="identity")[1])


def it_ends_whatever_is_running(
    app: subprocess.Popen[bytes], address: str, browser: Browser, ask_to_end: Callable[[], None]
) -> None:
    """A measurement is running then, and a picture whose worker stands still: who waits for it waits for ever."""

    def ask_for_a_picture() -> None:
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/pictures/heads", b"seed=77", timeout=60).close()

    page = browser.new_page()
    page.goto(f"{address}{MEASURE}")
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("button", name="Stop", exact=True).wait_for(timeout=60_000)  # its worker is at it
    workers = [worker["pid"] for worker in status_of(address)["workers"]]
    with standing_still(workers):
        Thread(target=ask_for_a_picture, daemon=True).start()
        until(lambda: any(worker["busy"] for worker in status_of(address)["workers"]))
        assert {app.pid, *workers} < set(members(app.pid)), "the app, its workers, and the worker of measurements"
        ask_to_end()
        assert app.wait(BOUND) == 0
    until(lambda: members(app.pid) == [], within=BOUND)
    page.close()


def pages_pictures_and_links_work_below_a_path(visit, below: str) -> None:
    visitor = visit("/lab/heads?seed=3", at=below)
    page, failed = visitor.page, []

    def note(response: Response) -> None:
        if response.status >= 400 and not response.url.endswith(EXPECTED_404):
            failed.append(f"{response.status} {response.url}")

    page.on("response", note)
    page.on("requestfailed", lambda request: failed.append(request.url))
    assert visitor.weights()
    visitor.go("Masks")
    page.locator(".st-key-panel_masks_see canvas").first.wait_for()
    expect(page).to_have_url(re.compile(f"^{re.escape(below)}/lab/masks.*seed=3"))
    visitor.go("Heads")
    shown = visitor.weights()
    link = visitor.link()
    assert link.startswith(f"{below}/lab/heads?")
    visitor.wait()
    visitor.open(link.removeprefix(below))  # all files of a page are asked for below the path, too
    assert visitor.weights() == shown
    visitor.go("Home")
    page.locator(".st-key-card_heads a").click()
    assert visitor.weights() == shown
    assert failed == []
    page.goto("about:blank")


def streamlits_own_metrics_are_told_to_nobody(below: str) -> None:
    assert answer(f"{below}/lab/_stcore/health")[1] == b"ok"
    for path in ("/lab/_stcore/metrics", "/lab/_stcore/metrics/", "/_stcore/metrics"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            answer(f"{below}{path}")
        assert refused.value.code == 404
        assert b"session" not in refused.value.read()


def test_run_py_serves_below_a_path_until_ctrl_c(visit, browser):
    with started(*RUN_PY, "--server.baseUrlPath=lab") as (app, below):
        pages_pictures_and_links_work_below_a_path(visit, below)
        streamlits_own_metrics_are_told_to_nobody(below)
        ask_all = partial(os.killpg, app.pid, signal.SIGINT)  # as a terminal does
        it_ends_whatever_is_running(app, f"{below}/lab", browser, ask_all)


def a_link_is_answered_at_first_is_the_same_elsewhere_and_leads_to_other_lenses(visit, cloud: str) -> None:
    """Its answer is the server's first."""
    first = visit(LINK, at=cloud)
    expect(first.page.get_by_text("Page not found")).to_have_count(0)
    assert first.heading().startswith("Layer 1, head 5")
    shown = first.weights()
    same(shown, first.page.url)
    links = first.page.locator(LENSES)
    expect(links).to_have_count(len(NAMES) + 1)  # the page Learn, which is no lens
    for name in (links.last.inner_text(), "Heads"):
        first.go(name)
        first.wait()
    assert first.weights() == shown
    assert answer(f"{cloud}/ready")[1] == b'{"ready":true}'
    first.page.goto("about:blank")


def the_defaults_are_those_of_a_small_host(cloud: str) -> None:
    settings = status_of(cloud)["settings"]
    assert (settings["ATTENTION_LAB_PRESET"], settings["ATTENTION_LAB_WORKERS"]) == ("hosted", "1")


def test_the_entry_point_for_community_cloud_serves_the_whole_app_until_sigterm(visit, browser):
    with started(*CLOUD) as (app, cloud):
        a_link_is_answered_at_first_is_the_same_elsewhere_and_leads_to_other_lenses(visit, cloud)
        the_defaults_are_those_of_a_small_host(cloud)
        it_ends_whatever_is_running(app, cloud, browser, app.terminate)
