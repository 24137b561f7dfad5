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
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.hub import HUB
from tfm_ui.classroom.room import NotOwner, Room, TooLate, read_code
from tfm_ui.classroom.tries import Tries
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
GONE = "There is no room {code}. A room closes after three hours, or when its owner closes it."
NO_CODE = "The code of a room has {letters} letters; got “{got}”."
WRONG = "Too many codes were tried from here. Try again in {seconds} s."
FULL = "This room has {members} members, the most that this server allows{setting}."
FAST = "That was sent too often. Try again in {seconds} s."

# Codes of rooms that are not there: of a browser, which may mistype, and of a network, which may be a whole school.
WRONG_BY_BROWSER, WRONG_BY_NETWORK = Tries(8, 4), Tries(40, 6)
# What a browser sends to a room, and all browsers of a network together: a class answers at once.
SENT_BY_BROWSER, SENT_BY_NETWORK = Tries(30, 240), Tries(600, 1800)

_threads = ThreadPoolExecutor(8, thread_name_prefix="room")
_log = logging.getLogger(__name__)


class Refusal(Exception):
    """An HTTP error, with a sentence."""

    def __init__(self, status: int, words: str, wait: int = 0) -> None:
        super().__init__(words)
        self.words = words
        headers = {"Retry-After": str(wait)} if wait else {}
        self.response = JSONResponse({"problem": words}, status, headers | {"Cache-Control": "no-store"})


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
        member, is_owner = room.member(visitor_of(request)), room.is_owner(request.headers.get(SECRET, ""))
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
            raise Refusal(404, f"expected one of {', '.join(ACTS)}, got {name[:40]!r}")
        who = visitor_of(request)
        for tries, whose in ((SENT_BY_BROWSER, who), (SENT_BY_NETWORK, address_of(who) or who)):
            if wait := tries.wait(whose):
                raise Refusal(429, FAST.format(seconds=wait), wait)
            tries.take(whose)
        told = await _told(request)
        if name == ALIVE:
            _note_alive(request, told)
            return Response(status_code=204)
        room = await _entered(request)
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


def enter(typed: str, who: str) -> Room:
    """The room with this code, for a visitor who has not tried too many codes.

    Raises:
        Refusal: if there is no such room, or the visitor is not told.
    """
    wrong = ((WRONG_BY_BROWSER, who), (WRONG_BY_NETWORK, address_of(who) or who))
    wait = max(tries.wait(whose) for tries, whose in wrong)
    try:
        code = read_code(typed)
    except NoRoom:
        raise Refusal(404, NO_CODE.format(letters=rooms.LENGTH, got=" ".join(typed.split())[:20])) from None
    try:
        room = rooms.look(code)
    except NoRoom:
        if wait:
            metrics.REFUSED.labels("room_codes").inc()
            raise Refusal(429, WRONG.format(seconds=wait), wait) from None
        for tries, whose in wrong:
            tries.take(whose)
        raise Refusal(404, GONE.format(code=code)) from None
    except StoreAway as problem:
        raise Refusal(503, str(problem), wait=5) from None
    if wait and not MEMBERS.knows(room, who):
        metrics.REFUSED.labels("room_codes").inc()
        raise Refusal(429, WRONG.format(seconds=wait), wait)
    MEMBERS.note(room, who)
    return room


class Members:
    """The browsers that have been in a room of this server, by their names there: they come back after a break."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def knows(self, room: Room, who: str) -> bool:
        """Whether this visitor was there before."""
        return room.member(who) in self._known.get(_name(room), ())

    def note(self, room: Room, who: str) -> None:
        """Note that this visitor is there."""
        if _name(room) not in self._known:
            while len(self._known) >= SETTINGS.rooms:
                del self._known[next(iter(self._known))]
            self._known[_name(room)] = set()
        known = self._known[_name(room)]
        if len(known) < 2 * SETTINGS.room_members:
            known.add(room.member(who))


def _name(room: Room) -> str:
    return str(room.about["number"])


MEMBERS = Members()


async def _told(request: Request) -> Any:
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > LONGEST:
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
        raise Refusal(400, str(problem)) from None


def _note_alive(request: Request, told: dict[str, Any]) -> None:
    """A sign of life of a tab: without it, it counts as gone. The name of its line is known to that tab alone."""
    if not is_same_origin(request):
        raise Refusal(403, "expected a request of a page of this server")
    if not HUB.is_alive(request.path_params["code"], str(told.get("line", ""))):
        raise Refusal(409, "This line has ended. Open another one.")


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
