"""Who is connected to this server's rooms, and what they are sent: each change of a room, once for all of its members.

For the thread of the event loop, but for `hear`, which the store calls in any thread. A room that changes is read once,
however many are connected; what all of them are told is written once.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.room import Room
from tfm_ui.classroom.views import of_all, of_member, of_owner
from tfm_ui.store import shared
from tfm_ui.store.rooms import NoRoom, RoomFull
from tfm_ui.store.store import StoreAway

SILENCE = 100.0  # seconds without a sign of life of a tab after which it counts as gone: its laptop may sleep
BEAT = 10.0  # seconds after which who is connected is sent an empty line, and hears so that the connection lives
RENEWS = 15.0  # seconds after which the store is told again how many are here, and is looked at for what was missed
TIDIES = 60.0  # seconds between two looks whether the time of a room is over that nobody is connected to
GATHERS = 0.3  # seconds for which those who come and go are gathered before the others hear of it
FAULT = "What is new in this room cannot be shown. The server’s log says why."
AWAY = "This server cannot reach the room now. It goes on trying."

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Connection:
    """A browser's tab that is connected to a room.

    Attributes:
        member: what stands for the browser in the room.
        is_owner: whether it has the owner's secret.
        line: the name of its line, which the tab alone is told.
        alive: when it gave its last sign of life.
    """

    member: str
    is_owner: bool
    line: str = field(default_factory=lambda: secrets.token_hex(8))
    alive: float = field(default_factory=time.monotonic)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    told: dict[str, str] = field(default_factory=dict)


class Hall:
    """A room that somebody at this server is connected to."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.connections: set[Connection] = set()
        self.room: Room | None = None  # None if it is closed
        self.all: dict[str, str] = {}  # what all are told, by name, as JSON
        self.owner: dict[str, str] = {}
        self.problem = ""
        self.changed = asyncio.Event()
        self.counted: tuple[int, bool] | None = None

    @property
    def here(self) -> tuple[int, bool]:
        """How many members are connected here, and whether the owner is."""
        members = {each.member for each in self.connections if not each.is_owner}
        owners = {each.member for each in self.connections if each.is_owner}
        return len(members - owners), bool(owners)

    def tell(self, room: Room | None, parts: "Parts", problem: str = "") -> None:
        """Tell all who are connected what the room is now."""
        self.room, self.problem = room, problem
        self.all, self.owner = parts
        for each in self.connections:
            each.news.set()


class Hub:
    """The halls of this server."""

    def __init__(self) -> None:
        self._server = secrets.token_hex(6)
        self._halls: dict[str, Hall] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._listens = False
        self._tidying: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def hear(self, code: str) -> None:
        """A room has changed; "": any may have."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._mark, code)

    def members(self, code: str) -> int:
        """How many members of a room are connected to this server."""
        return self._halls[code].here[0] if code in self._halls else 0

    def is_alive(self, code: str, line: str) -> bool:
        """Note a sign of life of the tab that has this line; return whether there is such a line."""
        for each in self._halls[code].connections if code in self._halls else ():
            if each.line == line:
                each.alive = time.monotonic()
                return True
        return False

    def tabs(self, code: str, member: str) -> int:
        """How many tabs of a member are connected to this server's part of a room."""
        return sum(each.member == member for each in self._halls[code].connections) if code in self._halls else 0

    async def events(self, room: Room, member: str, *, is_owner: bool) -> AsyncIterator[bytes]:
        """What a tab is sent: a line of JSON for each change, with what is new in it, until the room is closed."""
        hall, connection = self._enter(room), Connection(member, is_owner)
        hall.connections.add(connection)
        self._mark(room.code)
        try:
            connection.news.set()
            beats = loop_time() + BEAT
            while time.monotonic() - connection.alive <= SILENCE:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(beats):
                        await connection.news.wait()
                connection.news.clear()
                news = _news(hall, connection)
                if news or loop_time() >= beats:  # also where much changes of which this tab is told nothing
                    beats = loop_time() + BEAT
                    yield news or b"\n"
                if connection.told["open"] == "false":  # the hall may have been closed since it was read
                    return
        finally:
            hall.connections.discard(connection)
            self._mark(room.code)

    def _enter(self, room: Room) -> Hall:
        self._loop = asyncio.get_running_loop()
        if not self._listens:
            shared.rooms().listen(self.hear)
            self._listens = True
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.create_task(self._tidy())
        if room.code not in self._halls:
            hall = self._halls[room.code] = Hall(room.code)
            hall.tell(room, _parts(room))
            self._tasks[room.code] = asyncio.create_task(self._keep(hall))
        return self._halls[room.code]

    def _mark(self, code: str) -> None:
        for hall in [self._halls[code]] if code in self._halls else self._halls.values() if not code else ():
            hall.changed.set()

    async def _keep(self, hall: Hall) -> None:
        """Read the room whenever it has changed, and note who is here, as long as anybody is."""
        loop, counting, renews = asyncio.get_running_loop(), loop_time(), loop_time() + RENEWS
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(renews):
                        await hall.changed.wait()
                if loop_time() >= renews:  # however much has changed meanwhile
                    hall.counted, renews = None, loop_time() + RENEWS
                hall.changed.clear()
                if hall.room is not None or hall.problem:
                    await loop.run_in_executor(None, self._read, hall, loop)
                if (not hall.connections and hall.counted == (0, False)) or (hall.room is None and not hall.problem):
                    return
                if hall.counted != hall.here:
                    await asyncio.sleep(max(0.0, counting - loop_time()))
                    counting = loop_time() + GATHERS
                    hall.counted = hall.here
                    await loop.run_in_executor(None, self._count, hall, hall.here)
        finally:
            self._halls.pop(hall.code, None)
            self._tasks.pop(hall.code, None)

    async def _tidy(self) -> None:
        """Look at all rooms now and then, as long as there are any: the store drops those whose time is over."""
        loop, are_open = asyncio.get_running_loop(), True
        while are_open:
            await asyncio.sleep(TIDIES)
            with suppress(StoreAway):
                are_open = bool(await loop.run_in_executor(None, shared.rooms().codes))

    def _read(self, hall: Hall, loop: asyncio.AbstractEventLoop) -> None:
        """Read the room, in a thread. Whatever goes wrong, it stays open until it is known to be closed."""
        told: tuple[Room | None, Parts, str]
        try:
            now = rooms.look(hall.code)
            told = now, _parts(now), ""
        except NoRoom:
            told = None, _parts(None), ""
        except StoreAway:
            told = hall.room, (hall.all, hall.owner), AWAY
        except Exception:
            _log.exception("A room's members could not be told what is new.")
            told = hall.room, (hall.all, hall.owner), FAULT
        loop.call_soon_threadsafe(hall.tell, *told)

    def _count(self, hall: Hall, here: tuple[int, bool]) -> None:
        """Note who is here, in a thread. Where that does not work, the next look does it."""
        try:
            rooms.note_here(hall.code, self._server, here[0], owner=here[1])
        except (NoRoom, StoreAway, RoomFull):
            hall.counted = None


def loop_time() -> float:
    """The time of the event loop, in seconds."""
    return asyncio.get_running_loop().time()


Parts = tuple[dict[str, str], dict[str, str]]  # what all are told, and what the owner is told, too


def _parts(room: Room | None) -> Parts:
    return (_written(of_all(room)), _written(of_owner(room))) if room else ({}, {})


def _written(parts: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(part, separators=(",", ":"), default=float) for name, part in parts.items()}


def _news(hall: Hall, connection: Connection) -> bytes:
    """What this tab has not been told yet, as a line; b"" if there is nothing."""
    now = dict(hall.all)
    if hall.room:
        now |= _written(of_member(hall.room, connection.member)) | (hall.owner if connection.is_owner else {})
    now["line"] = json.dumps(connection.line)
    now["open"] = json.dumps(hall.room is not None or bool(hall.problem))
    now["problem"] = json.dumps(hall.problem)
    news = {name: part for name, part in now.items() if connection.told.get(name) != part}
    connection.told |= news
    return (
        ("{" + ",".join(f"{json.dumps(name)}:{part}" for name, part in news.items()) + "}\n").encode() if news else b""
    )


HUB = Hub()
