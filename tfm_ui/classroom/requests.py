"""The routes of rooms: `GET /rooms/KXTM/events`, what a tab is sent, and `POST /rooms/KXTM/answer`, what it does.

Members look, answer and leave. The owner's secret stands in a header, as the log has addresses. Whatever is refused is
answered by a sentence. What the owner's page asks and shows comes from its script (tfm_ui/classroom/leading.py).
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.door import GONE, Refusal, enter
from tfm_ui.classroom.hub import HUB
from tfm_ui.classroom.room import NotOwner, Room, TooLate
from tfm_ui.classroom.tries import Tries
from tfm_ui.server.body import bounded_body
from tfm_ui.server.same_origin import is_same_origin
from tfm_ui.settings import SETTINGS
from tfm_ui.store.rooms import NoRoom, RoomFull
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.options import config
from tfm_ui.visitors import metrics
from tfm_ui.visitors.visitor import address_of, visitor_of

T = TypeVar("T")

ALIVE = "alive"  # the act of a tab that is still there
SECRET = "x-room-secret"  # the header with the owner's secret
MOST_TABS = 10  # of a browser, in a room
LONGEST = 20_000  # bytes of what is sent
FULL = "This room has {members} members, the most that this server allows{setting}."
NOT_OWNER = "This is not the secret of the room’s owner."
FAST = "That was sent too often. Try again in {seconds} s."

# What a browser sends to a room, and all browsers of a network together: a class answers at once.
SENT_BY_BROWSER, SENT_BY_NETWORK = Tries(30, 240), Tries(600, 1800)

_threads = ThreadPoolExecutor(8, thread_name_prefix="room")
_log = logging.getLogger(__name__)


def room_routes() -> list[BaseRoute]:
    """The routes, below Streamlit's `server.baseUrlPath`."""
    below = f"/{config.get_option('server.baseUrlPath').strip('/')}".rstrip("/")
    return [
        Route(f"{below}/rooms/{{code}}/events", events),
        Route(f"{below}/rooms/{{code}}/{{act}}", act, methods=["POST"]),
    ]


async def events(request: Request) -> Response:
    """A line for each change of a room, for as long as the tab listens."""
    try:
        room = await _entered(request)
        member, secret = room.member(visitor_of(request)), request.headers.get(SECRET, "")
        if secret and not room.is_owner(secret):
            raise Refusal(403, NOT_OWNER)
        is_owner = bool(secret)
        tabs = HUB.tabs(room.code, member)
        if not is_owner and not tabs and HUB.members(room.code) >= SETTINGS.room_members:
            metrics.REFUSED.labels("room_members").inc()
            setting = SETTINGS.lowered_by("room_members")
            raise Refusal(503, FULL.format(members=SETTINGS.room_members, setting=setting), wait=30)
        if tabs >= MOST_TABS:
            raise Refusal(503, f"This browser has {MOST_TABS} tabs in this room, the most that are allowed.", wait=30)
    except Refusal as refusal:
        return refusal.response

    async def lines() -> AsyncIterator[bytes]:
        async for line in HUB.events(room, member, is_owner=is_owner):
            yield line

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), headers=headers, media_type="application/x-ndjson")


async def act(request: Request) -> Response:
    """Do what a browser asks for: 204 if it was done."""
    try:
        name = request.path_params["act"]
        if name not in (*ACTS, ALIVE):
            raise Refusal(404, f"expected one of {', '.join((*ACTS, ALIVE))}, got {name[:40]!r}")
        who, told = visitor_of(request), await _told(request)
        if name == ALIVE and _is_alive(request, told):
            return Response(status_code=204)
        _bound(SENT_BY_BROWSER, who)
        if name == ALIVE:
            raise Refusal(409, "This line has ended. Open another one.")
        room = await _entered(request)
        if not room.is_owner(request.headers.get(SECRET, "")):  # of others in the network nobody keeps the owner out
            _bound(SENT_BY_NETWORK, address_of(who) or who)
        await _in_thread(ACTS[name], room, request.headers.get(SECRET, ""), who, told)
    except Refusal as refusal:
        return refusal.response
    except ClientDisconnect:
        return Response(status_code=499)  # nobody reads it
    return Response(status_code=204)


async def _entered(request: Request) -> Room:
    """The room, for a page of this server that has not tried too many codes."""
    if not is_same_origin(request):
        raise Refusal(403, "expected a request of a page of this server")
    return await _in_thread(enter, request.path_params["code"], visitor_of(request))


async def _told(request: Request) -> Any:
    data = await bounded_body(request, LONGEST)
    if data is None:
        raise Refusal(413, f"expected at most {LONGEST:,} bytes")
    try:
        told = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise Refusal(400, "expected JSON") from None
    if not isinstance(told, dict):
        raise Refusal(400, "expected an object of JSON")
    return told


async def _in_thread(do: Callable[..., T], *arguments: Any) -> T:
    """Do it in a thread, as the store may take its time; whatever it refuses becomes a sentence."""
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, do, *arguments)
    except NoRoom as gone:
        raise Refusal(404, GONE.format(code=gone)) from None
    except NotOwner as problem:
        raise Refusal(403, str(problem)) from None
    except TooLate as problem:
        raise Refusal(409, str(problem)) from None
    except RoomFull as problem:
        raise Refusal(507, str(problem)) from None
    except StoreAway as problem:
        raise Refusal(503, str(problem), wait=5) from None
    except ValueError as problem:
        words = str(problem)
        raise Refusal(400, f"{words[:1].upper()}{words[1:]}.") from None


def _bound(tries: Tries, whose: str) -> None:
    if wait := tries.wait(whose):
        metrics.REFUSED.labels("room_acts").inc()
        raise Refusal(429, FAST.format(seconds=wait), wait)
    tries.take(whose)


def _is_alive(request: Request, told: dict[str, Any]) -> bool:
    """A sign of life of a tab: without it, it counts as gone. The name of its line is known to that tab alone."""
    if not is_same_origin(request):
        raise Refusal(403, "expected a request of a page of this server")
    return HUB.is_alive(request.path_params["code"], str(told.get("line", "")))


def _answer(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.answer(room.code, room.member(who), str(told.get("id", ""))[:40], told.get("answer"))


def _move(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.move(room.code, secret, told)


def _show(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.show(room.code, secret, str(told.get("id", "")))


def _reveal(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.reveal(room.code, secret, str(told.get("member", "")))


def _withdraw(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.withdraw(room.code, secret, str(told.get("id", "")))


def _close(room: Room, secret: str, who: str, told: dict[str, Any]) -> None:
    rooms.end(room.code, secret)


ACTS = {"answer": _answer, "place": _move, "show": _show, "reveal": _reveal, "withdraw": _withdraw, "close": _close}
