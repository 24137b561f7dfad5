"""What is added to Streamlit's ASGI app: routes for pictures and the files of assets/, middleware, start and end."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute, Route

from tfm_ui.server import assets, logs
from tfm_ui.server.connections import BodyTimeout, TabLimit, UploadLimit
from tfm_ui.server.figures import served
from tfm_ui.server.liveness import WATCH, live, ready
from tfm_ui.server.not_public import NotPublic
from tfm_ui.server.page_runs import PageRunsAtRest
from tfm_ui.server.part import part
from tfm_ui.server.picture_priority import PicturePriority
from tfm_ui.server.picture_requests import Pictures, preview
from tfm_ui.server.pool import POOL
from tfm_ui.server.requests_log import RequestsLog
from tfm_ui.server.same_origin import SameOriginOnly
from tfm_ui.server.security_headers import SecurityHeaders
from tfm_ui.server.shutdown import leave, quick_shutdown
from tfm_ui.server.status import status
from tfm_ui.server.waiting import waiting
from tfm_ui.store import shared
from tfm_ui.streamlit_private.options import config
from tfm_ui.visitors.workers import WORKERS

FILES = Path("/dev/fd")  # the open files of this process, on systems that list them


def routes(base: str) -> list[BaseRoute]:
    """The routes, below Streamlit's `server.baseUrlPath`."""
    below = f"/{base.strip('/')}".rstrip("/")
    return [
        Route(f"{below}/assets/{{version}}/{{path:path}}", assets.serve),
        Route(f"{below}/pictures/{{names}}", Pictures(), methods=["POST"]),
        Route(f"{below}/previews/{{lens}}.png", preview),
        Route(f"{below}/live", live),
        Route(f"{below}/ready", ready),
        Route(f"{below}/status", status),
        Route(f"{below}/waiting", waiting),
    ]


ROUTES = routes(config.get_option("server.baseUrlPath"))
MIDDLEWARE = [
    part(RequestsLog, "http"),
    part(SecurityHeaders, "http"),
    part(NotPublic, "http"),
    part(SameOriginOnly, "websocket"),
    part(TabLimit, "http", "websocket"),
    part(UploadLimit, "http"),
    part(BodyTimeout, "http"),
    part(PageRunsAtRest, "websocket"),
    part(PicturePriority, "websocket"),
]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Switch off Nagle's algorithm on the listening socket, hand out the figures, and end the server quickly.

    Streamlit creates its socket without a protocol number, so asyncio leaves Nagle's algorithm on, and an answer in two
    parts may wait 40 ms until the browser acknowledges the first. Connections inherit the option from the listening
    socket, which is open by now.
    """
    logs.set_up()
    sockets = [file for file in FILES.iterdir() if file.is_socket()] if FILES.is_dir() else []
    for file in sockets:
        with suppress(OSError), socket.socket(fileno=os.dup(int(file.name))) as listener:
            if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with quick_shutdown(), _figures():
            await asyncio.to_thread(POOL.start, WORKERS)
            await asyncio.to_thread(shared.warn)
            WATCH.start()
            yield
    finally:  # not after a signal: then this process has ended, and its workers end by themselves
        WATCH.close()
        await asyncio.to_thread(POOL.close)


@contextmanager
def _figures() -> Iterator[None]:
    """Hand the figures out in the block. Where they cannot be, the server ends with the reason, and no traceback."""
    with ExitStack() as until_the_end:
        try:
            until_the_end.enter_context(served())
        except ValueError as problem:
            _log.critical("%s", problem)
            leave(1)
        yield
