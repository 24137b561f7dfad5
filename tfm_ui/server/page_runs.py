"""Holds a tab's requests to run its page back until its visitor rests, see tfm_ui/visitors/rest.py.

It also keeps a press from being lost while one page gives way to another: a button of the page before is still on
screen then, and asks for a fragment of that page, which Streamlit ignores once the new page has been run. Such a
request is made one for the whole page, which hears of the same press.

A websocket that never asks for a page, or sends what is no message of Streamlit's, is closed.
"""

import asyncio
import time
from collections import deque

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tfm_ui.settings import SETTINGS
from tfm_ui.visitors.rest import PICTURES_FOLLOW, PageRuns

FIRST = 20.0  # seconds in which a tab must have asked for its page, which a browser does at once
TRY_AGAIN_LATER, NOT_UNDERSTOOD, TOO_BIG = 1013, 1003, 1009  # closing codes of websockets
LONGEST = 250_000  # characters of a link's query, as of questions for pictures
PARAMETERS = 500  # in it: several times as many as all lenses have
WIDGETS = 2_000  # in a message: several times as many as any page has


class PageRunsAtRest:
    """Middleware for websockets; HTTP requests pass unchanged."""

    def __init__(self, app: ASGIApp, rest: float = SETTINGS.rest_seconds) -> None:
        self.app, self._rest = app, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let each websocket's messages pass through a queue of its own."""
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        tab = _Tab(receive, send, PageRuns(self._rest))
        try:
            await self.app(scope, tab.receive, tab.send)
        finally:
            tab.close()


class _Tab:
    """One websocket: what its browser sends, and which session it belongs to."""

    def __init__(self, receive: Receive, send: Send, runs: PageRuns) -> None:
        self._receive, self._send, self._runs = receive, send, runs
        self._coming: asyncio.Task[Message] | None = None
        self._ready: deque[Message] = deque()
        self._session, self._page = "", ""
        self._fragments = set[str]()  # those that this page has sent
        self._must_ask = time.monotonic() + FIRST  # until when a page must have been asked for

    async def receive(self) -> Message:
        """The next message for Streamlit."""
        while not self._ready:
            self._coming = self._coming or asyncio.ensure_future(self._receive())
            patience = min(self._runs.due, self._must_ask) - time.monotonic()
            await asyncio.wait({self._coming}, timeout=max(0.0, patience) if patience < float("inf") else None)
            if self._coming.done():
                message, self._coming = self._coming.result(), None
                if message.get("text") is not None:
                    return await self._end(NOT_UNDERSTOOD)
                if _is_too_big(message.get("bytes") or b""):
                    return await self._end(TOO_BIG)
                self._ready.extend(self._sorted(message))
            elif time.monotonic() >= self._must_ask:
                return await self._end(TRY_AGAIN_LATER)
            elif time.monotonic() >= self._runs.due:
                self._ready.extend(map(_packed, self._runs.take()))
        return self._ready.popleft()

    def _sorted(self, message: Message) -> list[Message]:
        """What to hand on now that this message has come."""
        data = message.get("bytes")
        if message["type"] != "websocket.receive" or not data:
            return [message]
        try:
            asked = BackMsg.FromString(data)
        except DecodeError:
            return [message]  # Streamlit says what is wrong with it
        if asked.WhichOneof("type") == "rerun_script":
            self._must_ask = float("inf")
        rerun = asked.rerun_script
        if rerun.fragment_id and rerun.fragment_id not in self._fragments and not rerun.is_auto_rerun:
            rerun.ClearField("fragment_id")
        may_wait = PICTURES_FOLLOW.get(self._session, False)
        return list(map(_packed, self._runs.put(asked, time.monotonic(), may_wait=may_wait)))

    async def _end(self, code: int) -> Message:
        """Close the websocket; return what tells Streamlit so."""
        await self._send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}

    async def send(self, message: Message) -> None:
        """Hand on what Streamlit sends; the first message of a run names the session and the page."""
        if message["type"] == "websocket.send" and message.get("bytes"):
            self._note(ForwardMsg.FromString(message["bytes"]))
        await self._send(message)

    def _note(self, sent: ForwardMsg) -> None:
        kind = sent.WhichOneof("type")
        if kind == "new_session":
            self._session = self._session or sent.new_session.initialize.session_id
            if self._page != sent.new_session.page_script_hash:
                self._page = sent.new_session.page_script_hash
                self._fragments.clear()
        elif kind == "delta" and sent.delta.fragment_id:
            self._fragments.add(sent.delta.fragment_id)

    def close(self) -> None:
        """The websocket is closed."""
        if self._coming:
            self._coming.cancel()
        PICTURES_FOLLOW.pop(self._session, None)


def _is_too_big(data: bytes) -> bool:
    """Whether a message has more parameters or widgets than any page: each takes many times its bytes when it is read.

    Streamlit says of what is no message what is wrong with it.
    """
    try:
        asked = BackMsg.FromString(data).rerun_script
    except DecodeError:
        return False
    query = asked.query_string
    return len(query) > LONGEST or query.count("&") >= PARAMETERS or len(asked.widget_states.widgets) > WIDGETS


def _packed(asked: BackMsg) -> Message:
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}
