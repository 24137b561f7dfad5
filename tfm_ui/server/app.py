"""What the server does beside Streamlit's own: it answers for the scripts of assets/ and for the pictures' bytes."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from streamlit import config

from tfm_ui.pictures.canvas import ASSETS
from tfm_ui.server.connections import BodiesInTime, FewTabs, FewUploads
from tfm_ui.server.own_pages import OwnPagesOnly, SecurityHeaders
from tfm_ui.server.picture_requests import Pictures
from tfm_ui.server.pictures_first import PicturesFirst
from tfm_ui.server.shutdown import ends_when_told

FILES = Path("/dev/fd")  # this process's open files, where the system shows them


def routes(base: str) -> list[BaseRoute]:
    """What we answer for, below Streamlit's `server.baseUrlPath`: a page asks for it beside Streamlit's own."""
    below = f"/{base.strip('/')}".rstrip("/")
    return [
        # The version in a script's address is for the browser alone: another version, another address.
        Mount(f"{below}/assets/{{version}}", StaticFiles(directory=ASSETS)),
        Route(f"{below}/pictures/{{names}}", Pictures(), methods=["POST"]),
    ]


ROUTES = routes(config.get_option("server.baseUrlPath"))
PARTS = (SecurityHeaders, OwnPagesOnly, FewTabs, FewUploads, BodiesInTime, PicturesFirst)  # the outermost first
MIDDLEWARE = [Middleware(part) for part in PARTS]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Let answers leave at once.

    Streamlit's socket bears no protocol number, so asyncio does not switch off the gathering of small writes on it
    (Nagle), and an answer in two parts may wait 40 ms for the browser to acknowledge the first. Connections inherit
    what is set on the socket that listens; it is open by now.
    """
    sockets = [file for file in FILES.iterdir() if file.is_socket()] if FILES.is_dir() else []
    for file in sockets:
        with suppress(OSError), socket.socket(fileno=os.dup(int(file.name))) as listener:
            if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with ends_when_told():
        yield
