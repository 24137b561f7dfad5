"""The route for pictures: `POST /pictures/heads+head`, with the query of a link in the body."""

import asyncio
import gzip
import logging
import secrets
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.registry import PICTURES, CannotBeShown, made, takes_long
from tfm_ui.server.picture_priority import PENDING, browser_of
from tfm_ui.server.same_origin import is_same_origin
from tfm_ui.visitors.compute_limiter import RETRY, Busy, VisitorGone
from tfm_ui.visitors.transfer_limit import TransferLimit
from tfm_ui.visitors.turn import PATIENCE, TOO_LONG, Turn, use_turn
from tfm_ui.visitors.visitor import visitor_of

LONGEST = 250_000  # bytes of a query: room for the longest text, percent-encoded
MOST = 16  # pictures of one request: more than any page has
LARGEST = 32_000_000  # bytes of an answer: the three largest maps of a page take half of it
CHUNK = 2**16  # bytes handed to the network at a time: a slow reader has no more than that buffered

NOTHING = np.zeros(0, np.float32)

_log = logging.getLogger(__name__)
# A separate pool, so that Streamlit's files and its health probe never wait for a picture. The limiter decides how many
# of the threads compute at the same time; the others wait for their turn.
_threads = ThreadPoolExecutor(64, thread_name_prefix="picture")


class Refusal(Exception):
    """An HTTP error in place of the pictures."""

    def __init__(self, status: int, words: str, headers: dict[str, str] | None = None) -> None:
        self.response = Response(words, status, headers, media_type="text/plain")


class Pictures:
    """The endpoint, as an ASGI app."""

    def __init__(self) -> None:
        self.questions = TransferLimit(256, seconds=10)
        self.answers = TransferLimit(96_000_000, seconds=60)  # in bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, unless the client has disconnected."""
        request = Request(scope, receive)
        with PENDING.picture(browser_of(request)), suppress(ClientDisconnect, VisitorGone):
            try:
                response = await self._answer(request)
            except Refusal as refusal:
                response = refusal.response
            with suppress(TimeoutError):
                await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if not is_same_origin(request):
            raise Refusal(403, "expected a question from a page of this server")
        names = _names(request.path_params["names"])
        try:
            async with self.questions.transfer():
                query = await _query(request)
        except TimeoutError:
            raise Refusal(408, "expected the whole question at once") from None
        return self._stream(await _computed(request, names, query))

    def _stream(self, data: bytes) -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            async with self.answers.transfer(len(data)):
                for start in range(0, len(data), CHUNK):
                    yield data[start : start + CHUNK]

        headers = {"Content-Encoding": "gzip", "Content-Length": str(len(data)), "Cache-Control": "no-store"}
        return StreamingResponse(chunks(), media_type="application/octet-stream", headers=headers)


def _names(path: str) -> list[str]:
    names = path.split("+")
    if not PICTURES.keys() >= set(names):
        raise Refusal(404, f"expected one of {', '.join(PICTURES)}")
    if len(set(names)) < len(names) or len(names) > MOST:
        raise Refusal(400, f"expected each picture once, and at most {MOST} of them")
    return names


async def _query(request: Request) -> str:
    query = b""
    async for part in request.stream():
        query += part
        if len(query) > LONGEST:
            raise Refusal(413, f"expected at most {LONGEST} bytes")
    return query.decode("utf-8", "replace")


async def _computed(request: Request, names: list[str], query: str) -> bytes:
    """The pictures, computed in this visitor's turn. If the visitor leaves, pictures not yet begun are not computed."""
    gone = asyncio.create_task(_gone(request.receive))
    try:
        turn = Turn(visitor_of(request), lambda: not gone.done(), heavy=takes_long(query))
        try:
            first: set[asyncio.Future[Any]] = {asyncio.wrap_future(turn.ticket.admitted), gone}
            await asyncio.wait(first, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise VisitorGone
            if not turn.ticket.admitted.done():
                raise Busy(TOO_LONG)
            return await asyncio.get_running_loop().run_in_executor(_threads, _packed, turn, names, query)
        finally:
            turn.end()
    except (Busy, CannotBeShown) as reason:
        raise _refusal(reason) from None
    finally:
        gone.cancel()


def _packed(turn: Turn, names: list[str], query: str) -> bytes:
    """The pictures one after the other, each preceded by its length; in place of one that fails stands the problem."""
    parts: list[bytes] = []
    problems = []
    with use_turn(turn):
        for name in names:
            turn.check_wanted()
            try:
                parts.append(made(name, query))
            except (Busy, VisitorGone, CannotBeShown):
                raise
            except Exception:
                problems.append(_logged(name, query))
                parts.append(encode({"problem": problems[-1]}, NOTHING))
            if sum(map(len, parts)) > LARGEST:
                raise Refusal(413, f"These pictures have more than {LARGEST // 10**6} MB. Fewer tokens or heads fit.")
        if len(problems) == len(names):
            raise Refusal(500, problems[0])
        together = b"".join(len(data).to_bytes(4, "little") + data for data in parts)
        return gzip.compress(together, compresslevel=1)  # a half to a quarter of the size, for a millisecond or two


def _logged(name: str, query: str) -> str:
    """Log the current exception, and return a sentence for the visitor, who cannot see the log."""
    reference = secrets.token_hex(4)
    _log.exception("Reference %s: the picture %s of the link %.500r", reference, name, query)
    return f"This picture could not be computed. The server's log says why, under the reference {reference}."


async def _gone(receive: Receive) -> Message:
    """Return when the client has disconnected."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message


def _refusal(reason: Busy | CannotBeShown) -> Refusal:
    if isinstance(reason, Busy):
        return Refusal(503, str(reason), {"Retry-After": str(RETRY)})
    return Refusal(422, str(reason))
