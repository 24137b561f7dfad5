"""A Streamlit server as a user starts it, a real Chromium, and a window that notes what goes wrong in it."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, sync_playwright

from run import BROWSERS

ROOT = Path(__file__).parents[2]
FLOOR = "benchmarks/live/floor.py"
# Streamlit itself asks below a deep link's path whether its server lives there; a 404 is the answer it expects.
EXPECTED_404 = ("_stcore/health", "_stcore/host-config")


@contextmanager
def running_app(port: int | None = None, *, script: str = "app.py", options: Sequence[str] = ()) -> Iterator[str]:
    """`streamlit run app.py` as a user starts it, with more options; its address. Nobody has visited it yet."""
    with running_server(port, script=script, options=options) as (address, _):
        yield address


@contextmanager
def running_server(
    port: int | None = None, *, script: str = "app.py", options: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """The same, with the number of its process."""
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    usual = [f"--server.port={port}", "--server.address=127.0.0.1", "--logger.level=warning"]
    command = [sys.executable, "-m", "streamlit", "run", script, *usual, *options]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
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
    """Whether a server answers there, whatever it says."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health").close()
        return True
    except HTTPError:  # it lives below another path
        return True
    except (URLError, ConnectionError):
        return False


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or Playwright's own; without either, an error."""
    system = next(filter(None, map(shutil.which, BROWSERS)), None)
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system, args=quiet)
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """One browser window, with the errors in it and the foreign addresses that it asked for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.problems: list[str] = []
        self.foreign: list[str] = []
        page.on("pageerror", self._error)
        page.on("console", self._console)
        page.on("request", self._request)

    def forget(self) -> None:
        """What happens in it from now on is not noted."""
        self.page.remove_listener("pageerror", self._error)
        self.page.remove_listener("console", self._console)
        self.page.remove_listener("request", self._request)

    def _error(self, error: Error) -> None:
        self.problems.append(str(error))

    def _console(self, message: ConsoleMessage) -> None:
        expected = any(end in message.location["url"] for end in EXPECTED_404)
        if message.type == "error" and not expected:
            self.problems.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.foreign.append(request.url)

    def wait(self) -> None:
        """Until the app has stopped running and the page has drawn."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
        self.page.wait_for_timeout(300)
