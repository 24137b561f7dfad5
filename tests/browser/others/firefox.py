"""Firefox, driven by WebDriver BiDi, which it speaks itself: no driver is needed (https://w3c.github.io/webdriver-bidi)."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.exceptions import InvalidMessage
from websockets.sync.client import ClientConnection, connect

PROGRAMS = ("firefox-esr", "firefox")
PATIENCE = 60.0  # seconds
SIZE = {"width": 1440, "height": 900}


class Firefox:
    """One window of Firefox, and the errors in it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._number = connection, 0
        self.problems: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        (self._window,) = [tree["context"] for tree in self._ask("browsingContext.getTree")["contexts"]]
        self._ask("browsingContext.setViewport", context=self._window, viewport=SIZE)

    def open(self, address: str) -> None:
        """Go to this address; what went wrong on the page before is forgotten."""
        self._ask("browsingContext.navigate", context=self._window, url=address, wait="complete")
        self.problems.clear()

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which JSON can hold."""
        target, text = {"context": self._window}, f"JSON.stringify({expression})"
        told = self._ask("script.evaluate", target=target, expression=text, awaitPromise=False)
        assert told["type"] == "success", told
        return json.loads(told["result"].get("value", "null"))

    def drag(self, *places: Sequence[float]) -> None:
        """Press the mouse at the first of these places, move it to the others, and let go; at one place it clicks."""
        (x, y), *others = places
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 80} for x, y in others]
        begin = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": [*begin, *moves, {"type": "pointerUp", "button": 0}]}
        self._ask("input.performActions", context=self._window, actions=[mouse])

    def back(self) -> None:
        """One entry back in the history."""
        self._ask("browsingContext.traverseHistory", context=self._window, delta=-1)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._connection.recv(timeout=PATIENCE))
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.problems.append(str(told["params"]["text"]))
            elif told.get("id") == self._number:
                assert told["type"] == "success", told
                result: dict[str, Any] = told["result"]
                return result


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Run Firefox with a profile in this folder.

    Raises:
        LookupError: if there is none.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if not program:
        raise LookupError(f"expected one of {', '.join(PROGRAMS)}, found none")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", str(port)]
    browser = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with _connected(f"ws://127.0.0.1:{port}/session") as connection:
            yield Firefox(connection)
    finally:
        browser.terminate()
        try:
            browser.wait(timeout=20)
        except subprocess.TimeoutExpired:
            browser.kill()


def _connected(address: str) -> ClientConnection:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return connect(address, max_size=None, proxy=None)
        except (OSError, InvalidMessage):
            if time.monotonic() > give_up:
                raise
            time.sleep(0.2)
