"""What the server does beside Streamlit's own: it answers for the scripts of assets/ and for the pictures' bytes."""

import asyncio
import gzip
import os
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.components.canvas import ASSETS
from tfm_ui.pictures import PICTURES, made

DRAWING = 0.02  # seconds from an answer's leaving to the picture on screen
PATIENCE = 0.08  # seconds that Streamlit waits at most
FILES = Path("/dev/fd")  # this process's open files, where the system shows them
LONGEST = 250_000  # bytes of a query: every sign of the longest text, percent-encoded


_on_their_way: Counter[str] = Counter()  # pictures, by the browser that asked


def _browser(scope: Scope) -> str:
    """Who asks: what is the same in a browser's requests and its websocket."""
    headers = dict(scope["headers"])
    return str(headers.get(b"cookie") or (scope.get("client") or ("",))[0])


class PicturesFirst:
    """Lets a browser's pictures pass before what it says to Streamlit at the same moment.

    A moved control does both: it asks for the pictures, and has the page run. Python does one thing at a time, and so
    does a browser; the eye waits for the picture, and the words that come with it can follow a blink later.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Only websockets wait."""
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        browser = _browser(scope)

        async def patiently() -> Message:
            message = await receive()
            begin = time.monotonic()
            while _on_their_way[browser] and time.monotonic() - begin < PATIENCE:
                await asyncio.sleep(0.004)
            return message

        await self.app(scope, patiently, send)


async def _drawn(browser: str) -> None:
    """After an answer has left."""
    await asyncio.sleep(DRAWING)
    _on_their_way[browser] -= 1
    if not _on_their_way[browser]:
        del _on_their_way[browser]


async def picture(request: Request) -> Response:
    """The bytes of one or more pictures, "heads+head", for the link's query in the body: a length before each."""
    names, query = request.path_params["names"].split("+"), b""
    if not PICTURES.keys() >= set(names):
        return Response(f"expected one of {', '.join(PICTURES)}", 404, media_type="text/plain")
    async for part in request.stream():
        query += part
        if len(query) > LONGEST:
            return Response(f"expected at most {LONGEST} bytes", 413, media_type="text/plain")
    browser = _browser(request.scope)
    _on_their_way[browser] += 1
    after = BackgroundTask(_drawn, browser)
    try:
        data = await run_in_threadpool(_packed, names, query.decode("utf-8", "replace"))
    except ValueError as error:
        return Response(str(error), 422, media_type="text/plain", background=after)
    packed = {"Content-Encoding": "gzip"}
    return Response(data, media_type="application/octet-stream", headers=packed, background=after)


def _packed(names: list[str], query: str) -> bytes:
    pictures = [made(name, query) for name in names]
    together = b"".join(len(data).to_bytes(4, "little") + data for data in pictures)
    return gzip.compress(together, compresslevel=1)  # a half to a quarter of what is sent, for a millisecond or two


# The version in a script's address is for the browser alone: another version, another address.
ROUTES = [
    Mount("/assets/{version}", StaticFiles(directory=ASSETS)),
    Route("/pictures/{names}", picture, methods=["POST"]),
]
MIDDLEWARE = [Middleware(PicturesFirst)]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Let answers leave at once.

    Streamlit's socket bears no protocol number, so asyncio does not switch off the gathering of small writes on it
    (Nagle), and an answer in two parts may wait 40 ms for the browser to acknowledge the first. Connections inherit
    what is set on the socket that listens; it is open by now.
    """
    sockets = [file for file in FILES.iterdir() if file.is_socket()] if FILES.is_dir() else []
    for file in sockets:
        with suppress(OSError), socket.socket(fileno=os.dup(int(file.name))) as one:
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    yield
