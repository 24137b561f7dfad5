"""What the server does beside Streamlit's own: it answers for the scripts of assets/ and for the pictures' bytes."""

import gzip
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tfm_ui.components.canvas import ASSETS
from tfm_ui.pictures import PICTURES, made

PATIENCE = 0.05  # seconds that a page waits at most
FILES = Path("/dev/fd")  # this process's open files, where the system shows them
LONGEST = 250_000  # bytes of a query: every sign of the longest text, percent-encoded


_asked_for = 0
_changed = threading.Condition()


def let_pictures_pass() -> None:
    """Wait a moment while a picture is being made: the eye waits for it, and Python does one thing at a time."""
    with _changed:
        _changed.wait_for(lambda: _asked_for == 0, PATIENCE)


@contextmanager
def _first() -> Iterator[None]:
    """While this lasts, pages wait."""
    global _asked_for
    with _changed:
        _asked_for += 1
    try:
        yield
    finally:
        with _changed:
            _asked_for -= 1
            _changed.notify_all()


async def picture(request: Request) -> Response:
    """The bytes of one picture, for the link's query in the body."""
    name, query = request.path_params["name"], b""
    if name not in PICTURES:
        return Response(f"expected one of {', '.join(PICTURES)}", 404, media_type="text/plain")
    async for part in request.stream():
        query += part
        if len(query) > LONGEST:
            return Response(f"expected at most {LONGEST} bytes", 413, media_type="text/plain")
    try:
        with _first():
            data = await run_in_threadpool(_packed, name, query.decode("utf-8", "replace"))
    except ValueError as error:
        return Response(str(error), 422, media_type="text/plain")
    return Response(data, media_type="application/octet-stream", headers={"Content-Encoding": "gzip"})


def _packed(name: str, query: str) -> bytes:
    return gzip.compress(made(name, query), compresslevel=1)  # half of what is sent, for a millisecond


# The version in a script's address is for the browser alone: another version, another address.
ROUTES = [
    Mount("/assets/{version}", StaticFiles(directory=ASSETS)),
    Route("/pictures/{name}", picture, methods=["POST"]),
]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Let answers leave at once.

    Streamlit's socket bears no protocol number, so asyncio does not switch off the gathering of small writes on it
    (Nagle), and an answer in two parts may wait 40 ms for the browser to acknowledge the first. Connections inherit
    what is set on the socket that listens; it is open by now.
    """
    for number in FILES.iterdir() if FILES.is_dir() else ():
        with suppress(OSError), socket.socket(fileno=os.dup(int(number.name))) as open_file:
            if open_file.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                open_file.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    yield
