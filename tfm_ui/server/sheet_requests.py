"""The route `GET /sheets/<lesson>.html`: a lesson as a page to print, sent piece by piece as its answers are computed.

Its pictures have a route of their own (tfm_ui/server/picture_requests.py), so that the page opens at once. A visitor
has one sheet made at a time, each of its pieces in a turn of its own among those of all visitors.
"""

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from tfm_ui.server.link_preview import address_of
from tfm_ui.server.picture_requests import on_paper
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.options import config
from tfm_ui.visitors.compute_limiter import RETRY, Busy, VisitorGone
from tfm_ui.visitors.turn import Turn, use_turn
from tfm_ui.visitors.visitor import visitor_of

# The name of a lesson, the kind, the paper and the app's address -> the page's pieces, each made when it is called. A
# LookupError if there is no such lesson, a ValueError if there is no such sheet, StoreAway.
Pieces = Callable[[str, str, str, str], Sequence[Callable[[], str]]]
MOST_WAITING = 3  # sheets of a visitor: one is made, the others wait for it
AT_ONCE = 4  # sheets of all visitors: pieces of others wait for a thread

_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sheet")
_log = logging.getLogger(__name__)


def sheet_routes(make: Pieces) -> list[BaseRoute]:
    """The routes of sheets and of their pictures, below Streamlit's `server.baseUrlPath`."""
    below = f"/{config.get_option('server.baseUrlPath').strip('/')}".rstrip("/")
    return [
        Route(f"{below}/sheets/pictures/{{kind}}/{{lens}}.svg", on_paper),
        Route(f"{below}/sheets/{{lesson}}.html", Sheets(make).serve),
    ]


class Sheets:
    """The endpoint.

    Args:
        make: makes the pieces of a sheet.
    """

    def __init__(self, make: Pieces) -> None:
        self._make = make
        self._making: dict[str, asyncio.Lock] = {}
        self._asked: Counter[str] = Counter()

    async def serve(self, request: Request) -> Response:
        """The page, or a sentence why there is none."""
        asked = request.query_params
        kind, paper = asked.get("kind", "questions"), asked.get("paper", "a4")
        address = address_of(request.scope).removesuffix("/sheets")
        where = request.path_params["lesson"], kind, paper, address
        try:
            pieces = await asyncio.get_running_loop().run_in_executor(_threads, self._make, *where)
        except LookupError as problem:
            return _sentence(404, f"{str(problem)[:1].upper()}{str(problem)[1:]}.")
        except ValueError as problem:
            return _sentence(400, f"This sheet does not exist: {problem}.")
        except StoreAway as problem:
            return _sentence(503, str(problem))
        who = visitor_of(request)
        if self._asked[who] >= MOST_WAITING:
            return _sentence(503, "Other sheets of yours are being made. Load this page again when they are there.")
        headers = {"Cache-Control": "no-store"}
        if request.method == "HEAD":
            return Response(headers=headers, media_type="text/html")
        return StreamingResponse(self._sent(request, who, pieces), headers=headers, media_type="text/html")

    async def _sent(self, request: Request, who: str, pieces: Sequence[Callable[[], str]]) -> AsyncIterator[str]:
        """The pieces, one after the other; when nobody reads them any more, the rest is not made."""
        self._asked[who] += 1
        try:
            async with self._making.setdefault(who, asyncio.Lock()):
                for piece in pieces:
                    if await request.is_disconnected():
                        return
                    yield await asyncio.get_running_loop().run_in_executor(_threads, _made, who, piece)
        finally:
            self._asked[who] -= 1
            if not self._asked[who]:
                del self._asked[who], self._making[who]


def _made(who: str, piece: Callable[[], str]) -> str:
    """A piece, in a turn of this visitor, or a sentence why it is not there."""
    turn = None
    try:
        turn = Turn(who)
        turn.wait()
        with use_turn(turn):
            return piece()
    except (Busy, VisitorGone) as reason:
        return f'<p class="problem">{escape(str(reason))} Load the page again to have this step.</p>'
    except Exception as error:
        reference = secrets.token_hex(4)
        _log.error("Reference %s: a step of a sheet", reference, exc_info=error)
        said = f"This step could not be computed. The server's log says why, under the reference {reference}."
        return f'<p class="problem">{said}</p>'
    finally:
        if turn:
            turn.end()


def _sentence(status: int, words: str) -> Response:
    headers = {"Retry-After": str(RETRY)} if status == 503 else None
    return Response(words, status, headers, media_type="text/plain")
