"""Limits on connections: how many tabs may be open, how long a request body may take, how large uploads may be."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private.addresses import UPLOADS
from tfm_ui.streamlit_private.running import uploaded_bytes
from tfm_ui.text import formats
from tfm_ui.visitors import metrics
from tfm_ui.visitors.visitor import address_of, visitor_of

BODY = 60.0  # seconds for a whole body: enough for an upload of 9 MB over a slow network
TRY_AGAIN_LATER = 1013  # a websocket's closing code


# Each limit, by field of the settings: whose tabs they are, and what helps.
LIMITED = {
    "tabs_per_visitor": ("This browser", "Close a tab of it"),
    "tabs_per_address": ("Your network address", "Others there may close a tab"),
    "tabs": ("This server", "Come back a little later"),
}
FULL = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="{again}"><title>Attention Lab</title>
<body style="font: 1.125rem/1.5 sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem"><h1>Attention Lab</h1>
<p>{whose} has {tabs} of this app, the most that are allowed{setting}. {help}: this page tries again every
{again} seconds.</p></body></html>"""
AGAIN = 10  # seconds


class TabLimit:
    """Middleware that limits open tabs per visitor, per address and in all: each is a session of about 2 MB.

    Who opens a tab too many reads why, in place of the page.
    """

    def __init__(
        self,
        app: ASGIApp,
        tabs_per_visitor: int = SETTINGS.tabs_per_visitor,
        tabs_per_address: int = SETTINGS.tabs_per_address,
        tabs: int = SETTINGS.tabs,
    ) -> None:
        self.app = app
        self._most = {"tabs_per_visitor": tabs_per_visitor, "tabs_per_address": tabs_per_address, "tabs": tabs}
        self._open: Counter[tuple[str, str]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count websockets: each open tab has one."""
        if scope["type"] == "http" and not _is_page(scope):
            return await self.app(scope, receive, send)
        who = visitor_of(HTTPConnection(scope))
        counted = {"tabs_per_visitor": who, "tabs_per_address": address_of(who), "tabs": ""}
        full = next((each for each in counted.items() if self._open[each] >= self._most[each[0]]), None)
        if full:
            metrics.REFUSED.labels(full[0]).inc()
        if scope["type"] == "http":
            answer = self._why(full[0]) if full else self.app
            return await answer(scope, receive, send)
        if full:
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return
        self._open.update(counted.items())
        try:
            with metrics.TABS.track_inprogress():
                await self.app(scope, receive, send)
        finally:
            self._open -= Counter(counted.items())  # also drops the entries that are 0

    def _why(self, limit: str) -> Response:
        whose, help_ = LIMITED[limit]
        tabs = formats.plural(self._most[limit], "open tab")
        words = {"whose": whose, "help": help_, "tabs": tabs, "setting": SETTINGS.lowered_by(limit)}
        return HTMLResponse(FULL.format(**words, again=AGAIN), 503, {"Retry-After": str(AGAIN)})


def _is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page of the app, to show it in a tab."""
    is_asked = Headers(scope=scope).get("sec-fetch-dest") == "document"
    return is_asked and not scope["path"].endswith(("/live", "/ready", "/status"))


class BodyTimeout:
    """Middleware: if a request's body does not arrive in time, the app is told that the client has disconnected."""

    def __init__(self, app: ASGIApp, seconds: float = BODY) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on the request's body as long as it comes in time."""
        deadline = asyncio.get_running_loop().time() + self.seconds
        whole = False

        async def in_time() -> Message:
            nonlocal whole
            if whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}
            whole = not message.get("more_body", False)
            return message

        await self.app(scope, in_time, send)


class UploadLimit:
    """Middleware that limits uploads: Streamlit keeps uploaded files in memory until their tab is closed.

    Args:
        app: the app behind this middleware.
        each: bytes of one tab.
        together: bytes of all tabs. The tabs of a network address may have half of it, so that they leave room for
            those of others; on this machine, which has none, the tabs of a visitor.
        kept: returns session -> the bytes that Streamlit keeps for it.
    """

    def __init__(
        self,
        app: ASGIApp,
        each: int = SETTINGS.file_bytes_per_tab,
        together: int = SETTINGS.file_bytes,
        kept: Callable[[], Mapping[str, int]] = uploaded_bytes,
    ) -> None:
        self.app, self._each, self._together, self._kept = app, each, together, kept
        self._network = max(together // 2, each)
        self._coming: Counter[str] = Counter()  # session -> bytes of uploads that have begun
        self._owners: dict[str, str] = {}  # session -> whose uploads it has

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check uploads, which are requests to `PUT` a file."""
        session = _uploading(scope)
        if session is None:
            return await self.app(scope, receive, send)
        connection = HTTPConnection(scope)
        who = visitor_of(connection)
        owner = address_of(who) or who
        stated = connection.headers.get("content-length", "")
        # Without a stated length the body may be as large as Streamlit accepts.
        size = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 12 else self._each
        bytes_of = Counter(self._kept())
        bytes_of.update(self._coming)
        self._owners = {name: whose for name, whose in self._owners.items() if bytes_of[name]}
        of_owner = sum(bytes_of[name] for name, whose in self._owners.items() if owner and whose == owner)
        too_many = bytes_of[session] + size > self._each
        if too_many or (owner and of_owner + size > self._network) or bytes_of.total() + size > self._together:
            limit = "file_bytes_per_tab" if too_many else "file_bytes"
            metrics.REFUSED.labels(limit).inc()
            by = SETTINGS.lowered_by(limit)
            await Response(f"The server keeps too many uploaded files already{by}.", 413)(scope, receive, send)
            return
        self._coming[session] += size
        self._owners[session] = owner
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming -= Counter({session: size})


def _uploading(scope: Scope) -> str | None:
    """The session that an upload is for; None if the request is no upload."""
    if scope["method"] not in ("PUT", "POST"):
        return None
    _, uploads, behind = scope["path"].partition(UPLOADS)
    return behind.partition("/")[0] if uploads else None
