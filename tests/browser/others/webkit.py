"""WebKitGTK, the nearest thing to Safari on Linux, driven by its own WebDriver (https://www.w3.org/TR/webdriver2)."""

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

DRIVER = "WebKitWebDriver"
BROWSER = "MiniBrowser"  # it lies beside the library, in no folder of the path
PATIENCE = 60.0  # seconds
# What an observer of sizes has not been told in one frame, it is told in the next: that is a notice, and no error.
LISTEN = """
window.problems = []
addEventListener("error", event => event.message.startsWith("ResizeObserver loop") || problems.push(event.message))
addEventListener("unhandledrejection", event => problems.push(String(event.reason)))
"""


class WebKit:
    """One window of WebKit. Its driver tells no console: errors are heard from the moment that the page has loaded."""

    def __init__(self, address: str) -> None:
        self._address = address
        options = {"binary": str(_browser()), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._session = f"/session/{self._ask('POST', '/session', wanted)['sessionId']}"
        self._ask("POST", f"{self._session}/window/rect", {"width": 1440, "height": 1000})

    @property
    def problems(self) -> list[str]:
        """What went wrong on this page."""
        return [str(problem) for problem in self.evaluate("window.problems ?? []")]

    def open(self, address: str) -> None:
        """Go to this address."""
        self._ask("POST", f"{self._session}/url", {"url": address})
        self._run(LISTEN)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which JSON can hold."""
        return json.loads(self._run(f"return JSON.stringify({expression}) ?? 'null'"))

    def drag(self, *places: Sequence[float]) -> None:
        """Press the mouse at the first of these places, move it to the others, and let go; at one place it clicks."""
        (x, y), *others = places
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 80} for x, y in others]
        begin = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": [*begin, *moves, {"type": "pointerUp", "button": 0}]}
        self._ask("POST", f"{self._session}/actions", {"actions": [mouse]})

    def back(self) -> None:
        """One entry back in the history."""
        self._ask("POST", f"{self._session}/back", {})

    def close(self) -> None:
        """End the browser."""
        self._ask("DELETE", self._session)

    def _run(self, script: str) -> Any:
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]


def _browser() -> Path:
    """The path of the browser.

    Raises:
        LookupError: if there is none.
    """
    places = sorted(Path("/usr/lib").glob(f"*/webkit2gtk-4.*/{BROWSER}"))
    if not places or not shutil.which(DRIVER) or not shutil.which("Xvfb"):
        raise LookupError(f"expected {DRIVER}, {BROWSER} and Xvfb, found not all of them")
    return places[-1]


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """Run WebKit on a screen that nobody sees, with its files in this folder.

    Raises:
        LookupError: if there is none.
    """
    _browser()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with _screen() as screen:
        environment = {
            "DISPLAY": screen,
            "HOME": str(folder),
            "PATH": "/usr/bin:/bin",
            "NO_AT_BRIDGE": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",  # without a graphics card, layers cost a third of a page's time
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }
        command = [shutil.which(DRIVER) or DRIVER, f"--port={port}", "--host=127.0.0.1"]
        nowhere = subprocess.DEVNULL
        driver = subprocess.Popen(command, env=environment, stdout=nowhere, stderr=nowhere)
        try:
            _wait_for(port)
            browser = WebKit(f"http://127.0.0.1:{port}")
            yield browser
            browser.close()
        finally:
            driver.terminate()
            driver.wait(timeout=20)


@contextmanager
def _screen() -> Iterator[str]:
    """A screen in memory; its name."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=5).close()
            return
        except (URLError, ConnectionError):
            if time.monotonic() > give_up:
                raise
            time.sleep(0.2)
