"""Lets a browser's pictures pass before what it says to Streamlit at the same moment.

A moved control does both: it asks for the pictures, and has the page run. Python does one thing at a time, and so does
a browser; the eye waits for the picture, and the words that come with it can follow a blink later.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.visitors.visitor import address_of, visitor_of

DRAWING = 0.02  # seconds from an answer's leaving to the picture on screen
PATIENCE = 0.08  # seconds that Streamlit waits at most


class PendingPictures:
    """The pictures that are being made or drawn, by browser. For the event loop's thread alone."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._drawn: dict[str, asyncio.Event] = {}

    @contextmanager
    def picture(self, browser: str) -> Iterator[None]:
        """One is on its way, until shortly after the block has ended, however it ends."""
        if not browser:  # nobody can tell whose websocket would have to wait
            yield
            return
        self._counts[browser] += 1
        self._drawn.setdefault(browser, asyncio.Event())
        try:
            yield
        finally:
            asyncio.get_running_loop().call_later(DRAWING, self._release, browser)

    def _release(self, browser: str) -> None:
        self._counts[browser] -= 1
        if not self._counts[browser]:
            del self._counts[browser]
            self._drawn.pop(browser).set()

    async def wait(self, browser: str) -> None:
        """Until this browser's pictures are drawn, or patience ends."""
        if drawn := self._drawn.get(browser):
            try:
                await asyncio.wait_for(drawn.wait(), PATIENCE)
            except TimeoutError:
                return


PENDING = PendingPictures()


def browser_of(connection: HTTPConnection) -> str:
    """What is the same in a browser's requests and its websocket; "" where nothing tells browsers apart."""
    who = visitor_of(connection)
    return who if who != address_of(who) else ""


class PicturePriority:
    """Middleware: what a websocket brings waits for the same browser's pictures."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Only websockets wait."""
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        browser = browser_of(HTTPConnection(scope))

        async def patiently() -> Message:
            message = await receive()
            await PENDING.wait(browser)
            return message

        await self.app(scope, patiently, send)
