"""Holds presses at a box of numbers back until their row has ended, see tfm_ui/visitors/rest.py.

Then the run of the page waits for its turn (tfm_ui/server/page_turns.py).

It also keeps a press from being lost while one page gives way to another: a button of the page before is still on
screen then, and asks for a fragment of that page, which Streamlit ignores once the new page has been run. Such a
request is made one for the whole page, which hears of the same press.

A websocket that never asks for a page, or sends what is no message of Streamlit's, is closed.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.server.page_turns import PageTurns
from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private.protocol import (
    GENERATED_ELEMENT_ID_PREFIX,
    STREAMLIT_INTERNAL_KEY_PREFIX,
    BackMsg,
    ForwardMsg,
)
from tfm_ui.visitors.rest import PICTURES_FOLLOW, PageRuns
from tfm_ui.visitors.visitor import visitor_of

FIRST = 20.0  # seconds in which a tab must have asked for its page, which a browser does at once
TRY_AGAIN_LATER, NOT_UNDERSTOOD, TOO_BIG = 1013, 1003, 1009  # closing codes of websockets
LONGEST = 250_000  # characters of a link's query, as of questions for pictures
PARAMETERS = 500  # in it: several times as many as all lenses have
WIDGETS = 2_000  # in a message: several times as many as any page has
NAMES = GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX  # begin the names of all widgets of pages
HASHES = 2_000  # of parts of pages that a browser still has: several times as many as a page has parts
FILES = 20  # whose addresses for uploads a message asks for: a browser asks for one
LONGEST_ORDER = 2_000  # bytes of an order for a download: several times as many as a browser's have
# What the pages of this app send. Of what else Streamlit takes, one message clears the caches of all visitors.
SENT = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
ORDERS = {"deferred_file", "dataframe_chunk"}
LONGEST_NAME = 500  # characters of such a name: several times as many as any has


class PageRunsAtRest:
    """Middleware for websockets."""

    def __init__(self, app: ASGIApp, rest: float = SETTINGS.rest_seconds) -> None:
        self.app, self._rest = app, rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let each websocket's messages pass through a queue of its own."""
        tab = _Tab(receive, send, PageRuns(self._rest), PageTurns(visitor_of(HTTPConnection(scope))))
        try:
            await self.app(scope, tab.receive, tab.send)
        finally:
            tab.close()


class _Tab:
    """One websocket: what its browser sends, and which session it belongs to."""

    def __init__(self, receive: Receive, send: Send, runs: PageRuns, turns: PageTurns) -> None:
        self._receive, self._send, self._runs, self._turns = receive, send, runs, turns
        self._coming: asyncio.Task[Message] | None = None
        self._ready: deque[Message] = deque()
        self._session, self._page = "", ""
        self._fragments = set[str]()  # those that this page has sent
        self._must_ask = time.monotonic() + FIRST  # until when a page must have been asked for

    async def receive(self) -> Message:
        """The next message for Streamlit."""
        while not self._ready:
            self._coming = self._coming or asyncio.ensure_future(self._receive())
            admitted = self._turns.admitted
            patience = min(self._runs.due, self._must_ask) - time.monotonic()
            coming: set[asyncio.Future[Any]] = {self._coming, admitted} if admitted else {self._coming}
            await asyncio.wait(
                coming,
                timeout=max(0.0, patience) if patience < float("inf") else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if admitted and admitted.done():
                self._ready.extend(map(_packed, self._turns.take()))
            elif self._coming.done():
                message, self._coming = self._coming.result(), None
                if message.get("text") is not None:
                    return await self._end(NOT_UNDERSTOOD)
                if (asked := _read(message)) is None:
                    self._ready.append(message)
                elif code := _refusal(asked):
                    return await self._end(code)
                else:
                    self._hand_on(self._sorted(asked))
            elif time.monotonic() >= self._must_ask:
                return await self._end(TRY_AGAIN_LATER)
            elif time.monotonic() >= self._runs.due:
                self._hand_on(self._runs.take())
        return self._ready.popleft()

    def _hand_on(self, messages: Sequence[BackMsg]) -> None:
        """Hand on what needs no turn; a run of the page waits for one."""
        for message in messages:
            if message.WhichOneof("type") == "rerun_script":
                self._turns.put(message)
            else:
                self._ready.append(_packed(message))

    def _sorted(self, asked: BackMsg) -> list[BackMsg]:
        """What to hand on, once it has its turn, now that this message has come."""
        if not _is_sent_by_pages(asked):
            return []
        if asked.WhichOneof("type") == "rerun_script":
            self._must_ask = float("inf")
        rerun = asked.rerun_script
        if rerun.fragment_id and rerun.fragment_id not in self._fragments and not rerun.is_auto_rerun:
            rerun.ClearField("fragment_id")
        may_wait = PICTURES_FOLLOW.get(self._session, False)
        return self._runs.put(asked, time.monotonic(), may_wait=may_wait)

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
            self._turns.runs_as(self._session)
            if self._page != sent.new_session.page_script_hash:
                self._page = sent.new_session.page_script_hash
                self._fragments.clear()
        elif kind == "delta" and sent.delta.fragment_id:
            self._fragments.add(sent.delta.fragment_id)
        elif kind == "script_finished" and sent.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._turns.ended()

    def close(self) -> None:
        """The websocket is closed."""
        if self._coming:
            self._coming.cancel()
        self._turns.close()
        PICTURES_FOLLOW.pop(self._session, None)


def _read(message: Message) -> BackMsg | None:
    """What a browser asks for; None of what is no message of Streamlit's, which says itself what is wrong with it."""
    if message["type"] != "websocket.receive":
        return None
    try:
        return BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return None


def _refusal(message: BackMsg) -> int:
    """The code with which a message closes its websocket; 0 if it may be read.

    One may have more parameters or widgets than any page: each takes many times its bytes when it is read. The same is
    true of names of files, for each of which Streamlit makes an address, while everybody waits. Or it has a
    value for a widget whose name none can have: Streamlit then ends the run by an error that names it, in the log, too.
    """
    files, order = message.file_urls_request, message.backend_operation_request
    if len(files.file_names) > FILES or order.ByteSize() > LONGEST_ORDER:
        return TOO_BIG
    asked = message.rerun_script
    if len(asked.cached_message_hashes) > HASHES:
        return TOO_BIG
    query, widgets = asked.query_string, asked.widget_states.widgets
    if len(query) > LONGEST or query.count("&") >= PARAMETERS or len(widgets) > WIDGETS:
        return TOO_BIG
    return 0 if all(is_name(widget.id) for widget in widgets) else NOT_UNDERSTOOD


def _is_sent_by_pages(message: BackMsg) -> bool:
    kind = message.WhichOneof("type")
    return kind in SENT and (
        kind != "backend_operation_request" or message.backend_operation_request.WhichOneof("payload") in ORDERS
    )


def is_name(name: str) -> bool:
    """Whether a widget of a page can have this name. It may hold any letters: some are named after what they say."""
    return name.startswith(NAMES) and len(name) <= LONGEST_NAME


def _packed(asked: BackMsg) -> Message:
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}
