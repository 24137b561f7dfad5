"""Answers a browser's picture requests before the Streamlit messages that it sends at the same moment.

A control of Streamlit's that is moved sends both: a request for the pictures, and a message that makes Streamlit run
the page. Python and the browser's main thread each do one thing at a time. The picture comes first, as the reader
watches it; the page's text can follow a moment later. A visitor who was alone had pictures after 33 ms, and after 44 ms
without this. A slider of ours needs none of it: what it is let go at has been drawn.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.visitors.visitor import address_of, visitor_of

DRAWING = 0.02  # seconds from sending an answer until the browser has drawn the picture
PATIENCE = 0.08  # seconds that a message to Streamlit waits at most


class PendingPictures:
    """The pictures that are being computed or drawn, by browser. To be used in the event loop's thread only."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._drawn: dict[str, asyncio.Event] = {}

    @contextmanager
    def picture(self, browser: str) -> Iterator[None]:
        """A picture is pending until DRAWING seconds after the block has ended, also if it ends by an exception."""
        if not browser:  # it is not known which websocket would have to wait
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
        """Wait until this browser's pictures are drawn, at most PATIENCE seconds."""
        if drawn := self._drawn.get(browser):
            try:
                await asyncio.wait_for(drawn.wait(), PATIENCE)
            except TimeoutError:
                return


PENDING = PendingPictures()


def browser_of(connection: HTTPConnection) -> str:
    """A name that a browser's requests and its websocket share; "" without a cookie, which alone identifies it."""
    who = visitor_of(connection)
    return who if who != address_of(who) else ""


class PicturePriority:
    """Middleware that delays messages of a websocket until the same browser's pictures are drawn."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Delay what the browser sends."""
        browser = browser_of(HTTPConnection(scope))

        async def patiently() -> Message:
            message = await receive()
            await PENDING.wait(browser)
            return message

        await self.app(scope, patiently, send)
