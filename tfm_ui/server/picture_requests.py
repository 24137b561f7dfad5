"""The routes for pictures: `POST /pictures/heads+head`, with the query of a link in the body, and previews of links."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tfm_ui.pictures.registry import PICTURES, PREVIEWS, WITHOUT, CannotBeShown, can_be_asked
from tfm_ui.pictures.words_svg import in_words
from tfm_ui.server.body import bounded_body
from tfm_ui.server.equal_questions import EqualQuestions
from tfm_ui.server.logs import REQUEST
from tfm_ui.server.packed import AllFailed, TooLarge
from tfm_ui.server.picture_priority import PENDING, browser_of
from tfm_ui.server.pool import POOL, Question
from tfm_ui.server.same_origin import is_same_origin
from tfm_ui.visitors.compute_limiter import RETRY, Busy, VisitorGone
from tfm_ui.visitors.transfer_limit import TransferLimit
from tfm_ui.visitors.turn import PATIENCE, PicturesTurn, SlowLaneNeeded, Turn, too_long
from tfm_ui.visitors.visitor import visitor_of

LONGEST = 250_000  # bytes of a query: room for the longest text, percent-encoded
LONGEST_LINK = 8_000  # bytes of the query of a preview: longer ones than pages give
MOST = 16  # pictures of one request: more than any page has
PREVIEW_LASTS = 86_400  # seconds: a link brings back the same numbers
LONGEST_ANSWER = 300.0  # seconds after which a worker that computes one is given up: it hangs
LENGTH = 4  # bytes before each picture of an answer
CHUNK = 2**16  # bytes handed to the network at a time: a slow reader has no more than that buffered
KEYS = re.compile(r"[a-z0-9_*,]{1,200}")  # of panels
STATUS = {Busy: 503, CannotBeShown: 422, TooLarge: 413, AllFailed: 500}

EQUAL = EqualQuestions()

# A separate pool, so that Streamlit's files and its health probe never wait for a picture. Only who has a turn has a
# thread: whoever waits for one waits on the event loop.
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


async def preview(request: Request) -> Response:
    """`GET /previews/heads.png?` and the query of a link: the PNG that stands for it in messengers and on slides.

    Any site may ask for it, as messengers do: it changes nothing, and is computed in a turn like every picture.
    """
    name = f"{request.path_params['lens']}.preview"
    query = request.scope["query_string"]
    try:
        if name not in PREVIEWS:
            raise Refusal(404, "expected the name of a lens")
        if len(query) > LONGEST_LINK:
            raise Refusal(413, f"expected a link of at most {LONGEST_LINK} bytes")
        packed = await _computed(request, [name], query.decode("latin-1"))
    except Refusal as refusal:
        return refusal.response
    except VisitorGone:
        return Response(status_code=499)  # nobody reads it
    headers = {"Cache-Control": f"public, max-age={PREVIEW_LASTS}"}
    return Response(gzip.decompress(packed)[LENGTH:], media_type="image/png", headers=headers)


async def on_paper(request: Request) -> Response:
    """`GET /sheets/pictures/wide/heads.svg?` and the query of a link: the picture that a printed sheet shows of it.

    What cannot be shown is a picture, too, in which the reason stands: paper has no place for errors. The parameter
    `without` names panels that are left out, because they would give an answer away.
    """
    query = request.scope["query_string"].decode("latin-1")
    name = f"{request.path_params['lens']}.on_paper_{request.path_params['kind']}"
    without = request.query_params.get("without", "")
    headers = {"Cache-Control": f"public, max-age={PREVIEW_LASTS}"}
    if name not in PREVIEWS:
        return Refusal(404, "expected the name of a lens, below wide or small").response
    if len(query) > LONGEST_LINK:
        return Refusal(413, f"expected a link of at most {LONGEST_LINK} bytes").response
    if without and not KEYS.fullmatch(without):
        return Refusal(400, "expected keys of panels after without=, with commas between them").response
    try:
        packed = await _computed(request, [name + WITHOUT + without] if without else [name], query)
        svg = gzip.decompress(packed)[LENGTH:]
    except Refusal as refusal:
        if refusal.response.status_code not in (STATUS[CannotBeShown], STATUS[TooLarge]):
            return refusal.response
        svg, headers = in_words(bytes(refusal.response.body).decode()), {"Cache-Control": "no-store"}
    except VisitorGone:
        return Response(status_code=499)  # nobody reads it
    return Response(svg, media_type="image/svg+xml", headers=headers)


def _names(path: str) -> list[str]:
    names = path.split("+")
    if not all(map(can_be_asked, names)):
        raise Refusal(404, f"expected one of {', '.join(PICTURES)}")
    if len(set(names)) < len(names) or len(names) > MOST:
        raise Refusal(400, f"expected each picture once, and at most {MOST} of them")
    return names


async def _query(request: Request) -> str:
    query = await bounded_body(request, LONGEST)
    if query is None:
        raise Refusal(413, f"expected at most {LONGEST} bytes")
    return query.decode("utf-8", "replace")


async def _computed(request: Request, names: list[str], query: str) -> bytes:
    """The pictures, computed in this visitor's turn. If the visitor leaves, pictures not yet begun are not computed."""
    gone = asyncio.create_task(_gone(request.receive))

    async def compute(turn: PicturesTurn, nobody_waits: asyncio.Future[Any]) -> bytes:
        question = Question(turn, names, query, REQUEST.get())
        await _admitted(turn, nobody_waits)
        try:
            return await _answer(question, nobody_waits)
        except SlowLaneNeeded:
            turn.ask_for_slow_lane()
        await _admitted(turn, nobody_waits)
        return await _answer(question, nobody_waits)

    try:
        return await EQUAL.answer(visitor_of(request), names, query, gone, compute)
    except tuple(STATUS) as reason:
        raise _refusal(reason) from None
    finally:
        gone.cancel()


async def _admitted(turn: Turn, gone: asyncio.Future[Any]) -> None:
    """Wait until the turn's computation may begin. Raises Busy also if another has taken its place."""
    first: set[asyncio.Future[Any]] = {asyncio.wrap_future(turn.ticket.admitted), gone}
    await asyncio.wait(first, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    if gone.done():
        raise VisitorGone
    if not turn.ticket.admitted.done():
        raise too_long()
    turn.ticket.admitted.result()


async def _answer(question: Question, gone: asyncio.Future[Any]) -> bytes:
    loop = asyncio.get_running_loop()
    answer = loop.run_in_executor(_threads, POOL.ask, question)
    first: set[asyncio.Future[Any]] = {answer, gone}
    await asyncio.wait(first, timeout=LONGEST_ANSWER, return_when=asyncio.FIRST_COMPLETED)
    if gone.done() and not answer.done():
        # Nobody waits for this: a worker that hangs does not hear of it, until it is ended.
        loop.run_in_executor(_threads, POOL.drop, question)
        await asyncio.wait({answer}, timeout=LONGEST_ANSWER)
    while not answer.done():
        await loop.run_in_executor(_threads, POOL.give_up, question)
        await asyncio.wait({answer}, timeout=LONGEST_ANSWER)
    return await answer  # also if nobody wants it: until then its turn has not ended


async def _gone(receive: Receive) -> Message:
    """Return when the client has disconnected."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message


def _refusal(reason: Exception) -> Refusal:
    headers = {"Retry-After": str(RETRY)} if isinstance(reason, Busy) else None
    return Refusal(STATUS[type(reason)], str(reason), headers)
