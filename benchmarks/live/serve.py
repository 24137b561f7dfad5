"""A Streamlit server as a user starts it, a real Chromium, and a window that records errors."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from urllib.error import HTTPError, URLError

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, WebSocket, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.streamlit_private.dom import APP, COMPONENT, SKELETON, STATE
from benchmarks.streamlit_private.protocol import HEALTH, STOPPED, asks_for_a_run, begins_a_run, end_of_a_run
from run import BROWSERS

ROOT = Path(__file__).parents[2]
FLOOR = "benchmarks/live/floor.py"
# For a link to a page, Streamlit's script first asks for these below the page's path, and expects a 404.
EXPECTED_404 = ("_stcore/health", "_stcore/host-config")


@contextmanager
def running_app(
    port: int | None = None,
    *,
    script: str = "app.py",
    options: Sequence[str] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Run `streamlit run app.py` as a user does, with more options; return its address. Nobody has visited it yet."""
    with running_server(port, script=script, options=options, settings=settings) as (address, _):
        yield address


@contextmanager
def running_server(
    port: int | None = None,
    *,
    script: str = "app.py",
    options: Sequence[str] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
    core: int | None = None,
    log: Path | None = None,
) -> Iterator[tuple[str, int]]:
    """Run the app as `running_app` does; yield the address and the id of the process.

    Args:
        port: where it answers; by default a free one.
        script: what is run.
        options: more of Streamlit's.
        settings: environment variables.
        core: on which it runs alone, with all processes that it starts (Linux); by default on all of them.
        log: the file to whose end it writes what it logs; by default where this process does.
    """
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    usual = [f"--server.port={port}", "--server.address=127.0.0.1", "--logger.level=warning"]
    command = [sys.executable, "-m", "streamlit", "run", script, *usual, *options]
    if core is not None:
        command = ["taskset", "--cpu-list", str(core), *command]
    with log.open("ab") if log else nullcontext() as stderr:
        env = {**os.environ, **settings}
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stderr, env=env)
    try:
        give_up = time.monotonic() + 60
        while not is_healthy(port):
            assert server.poll() is None, f"{script} ended before it answered"
            assert time.monotonic() < give_up, f"{script} did not answer within a minute"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()


def is_healthy(port: int) -> bool:
    """Whether a server answers at this port, with any status."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{HEALTH}").close()
        return True
    except HTTPError:  # it answers below another path
        return True
    except (URLError, ConnectionError):
        return False


@contextmanager
def chromium(*options: str) -> Iterator[Browser]:
    """The system's Chromium, or Playwright's own, with more command-line options; without either, an error."""
    system = next(filter(None, map(shutil.which, BROWSERS)), None)
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system, args=[*quiet, *options])
        try:
            yield browser
        finally:
            browser.close()


# Why the page does not stand still: the app is running, its components have not come, a picture does not rest, or words
# are ahead of the page.
RUNNING = f"""() => {{
  const state = document.querySelector("{APP}")?.getAttribute("{STATE}")
  return state === "notRunning" ? [] : [`the app is ${{state}}`]
}}"""
UNREST = f"""() => {{
  const pictures = node => [...node.querySelectorAll("*")].flatMap(element => [
    ...element.matches("[data-picture]") ? [element] : [], ...element.shadowRoot ? pictures(element.shadowRoot) : []])
  const restless = pictures(document).filter(picture => !("settled" in picture.dataset))
  return [
    ...({RUNNING})(),
    ...window.attentionLabHistory || !document.querySelector("{COMPONENT}") ? [] : ["a component"],
    ...document.querySelector("{SKELETON}") ? ["a skeleton"] : [],
    ...restless.map(({{ attributes }}) => `a picture with ${{[...attributes].map(({{ name }}) => name)}}`),
    ...document.documentElement.hasAttribute("data-behind") ? ["words"] : [],
  ]
}}"""
# It stands still in two looks on end, as what the last message brought is drawn a moment later. While the app runs, the
# pictures are not looked for: that takes as long as drawing some of them.
AT_REST = f"""() => {{
  const rests = !({RUNNING})().length && !({UNREST})().length
  window.looksAtRest = rests ? (window.looksAtRest ?? 0) + 1 : 0
  return window.looksAtRest >= 2 && (window.looksAtRest = 0, true)
}}"""
PATIENCE = 60  # seconds


class Window:
    """One browser window, with the errors in it and the foreign addresses that it asked for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.problems: list[str] = []
        self.foreign: list[str] = []
        self.messages_sent = 0
        self.runs = 0  # of the app, or of a part of it, to its end
        self.unanswered = False  # the app was asked to run, and has not run to its end since
        self._begun = False
        page.on("pageerror", self._error)
        page.on("console", self._console)
        page.on("request", self._request)
        page.on("websocket", self._websocket)

    def forget(self) -> None:
        """What happens in it from now on is not noted."""
        self.page.remove_listener("pageerror", self._error)
        self.page.remove_listener("console", self._console)
        self.page.remove_listener("request", self._request)
        self.page.remove_listener("websocket", self._websocket)

    def _error(self, error: Error) -> None:
        self.problems.append(str(error))

    def _console(self, message: ConsoleMessage) -> None:
        expected = any(end in message.location["url"] for end in EXPECTED_404)
        if message.type == "error" and not expected:
            self.problems.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)

    def _websocket(self, socket: WebSocket) -> None:
        self.unanswered = False
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, message: str | bytes) -> None:
        self.messages_sent += 1
        if asks_for_a_run(message):
            self.unanswered, self._begun = True, False

    def _received(self, message: str | bytes) -> None:
        if begins_a_run(message):
            self._begun = True
        elif (how := end_of_a_run(message)) is not None:
            stopped = how == STOPPED
            self.runs += not stopped
            self.unanswered = self.unanswered and (stopped or not self._begun)

    def wait(self) -> None:
        """Wait until the app has answered what it was asked, and the page with all its pictures stands still."""
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                self.page.wait_for_function(AT_REST, timeout=1000 * PATIENCE, polling=50)
            except NotInTime as error:
                raise AssertionError(f"The page did not come to rest: {self.page.evaluate(UNREST)}") from error
            if not self.unanswered:
                return
            assert time.monotonic() < give_up, "the app was asked to run, and has not answered"
            self.page.wait_for_timeout(10)  # lets messages in
