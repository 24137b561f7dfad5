"""The tabs of a room without browsers: its owner's, which says where it is, and a follower's, which goes along.

They do what assets/classroom does: lead.js of the owner, follow.js of a follower, line.js of both.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

from benchmarks.live.visitor import Visitor
from benchmarks.live.visitor_kept import Kept
from benchmarks.live.visitor_page import with_values

BAR = "room_bar"  # the key of the component
SCRIPTS = Path(__file__).parents[2] / "assets/classroom"
ALIVE = 30.0  # seconds between two signs of life, as in line.js
SILENCE = 25.0  # seconds without a sign of life after which a line counts as broken
LOOK, MOVES, SECOND, MOST = 0.05, 0.1, 1.0, 2  # as in lead.js


@cache
def milliseconds(name: str) -> float:
    """A constant of follow.js, in seconds: read there, as a follower here is to wait as long as one in a browser."""
    found = re.search(rf"\b{name} = (\d+)", (SCRIPTS / "follow.js").read_text("utf-8"))
    if not found:
        raise ValueError(f"expected {name} in follow.js")
    return int(found[1]) / 1000


@dataclass(frozen=True)
class Place:
    """Where the owner is: a page, the query of its link, and a number that grows."""

    page: str
    query: str
    number: int


class RoomTab(Visitor):
    """A tab that is in a room.

    Attributes:
        code: of the room; "" before it is known.
        members: how many others say that they follow.
    """

    def __init__(self, address: str, link: str, kept: Kept) -> None:
        super().__init__(address, link, kept)
        self.code = self._secret = ""
        self.members = 0
        self._line: asyncio.Task[None] | None = None
        self._alive: asyncio.Task[None] | None = None

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the tab."""
        for task in (self._line, self._alive):
            if task:
                task.cancel()
                await asyncio.wait([task])
        await super().__aexit__(*_)

    @property
    def name(self) -> str:
        """The name of the page."""
        return str(self.page.data_of(BAR)["page"])

    @property
    def _headers(self) -> Mapping[str, str]:
        return self._cookie | ({"X-Room-Secret": self._secret} if self._secret else {})

    def _begin_to_listen(self) -> None:
        self._line = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Hear what the room says. A line that ends is an error, as nobody closes the room."""
        try:
            patience = aiohttp.ClientTimeout(total=None, sock_read=SILENCE)
            address = f"{self._address}/rooms/{self.code}/events"
            async with self._http.get(address, headers=self._headers, timeout=patience) as line:
                self.kept.refused += line.status == 503
                if line.status != 200:
                    raise ValueError(f"expected 200, got {line.status}: {await line.text()}")
                async for told in line.content:
                    if told.strip():
                        self._hear(json.loads(told))
            raise ValueError("the server has ended it")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self.kept.errors.append(f"the line to the room is lost: {type(error).__name__}: {error}")

    async def _stay(self, line: str) -> None:
        """Say again and again that this tab is still there."""
        while True:
            await asyncio.sleep(ALIVE)
            address = f"{self._address}/rooms/{self.code}/alive"
            async with self._http.post(address, json={"line": line}, headers=self._headers) as answer:
                if answer.status != 204:
                    self.kept.errors.append(f"a sign of life was refused: {answer.status}")

    def _hear(self, news: Mapping[str, Any]) -> None:
        if line := news.get("line"):
            self._alive = asyncio.create_task(self._stay(line))
        if here := news.get("here"):
            self.members = here["members"]
        if news.get("problem"):
            self.kept.errors.append(f"the room says: {news['problem']}")


class Owner(RoomTab):
    """A tab that opens a room and leads it.

    Attributes:
        said: the number of each place -> when the server was told.
    """

    def __init__(self, address: str, link: str, kept: Kept) -> None:
        super().__init__(address, link, kept)
        self.said: dict[int, float] = {}
        self._place: str | None = None  # where the room knows it to be
        self._leads: asyncio.Task[None] | None = None
        self._is_on_its_way = False  # to another page, so that its address is not this page's

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the tab."""
        if self._leads:
            self._leads.cancel()
            await asyncio.wait([self._leads])
        await super().__aexit__(*_)

    async def open_room(self) -> None:
        """Press the buttons that open a room, and lead it from then on."""
        for button in ("_open_room", "_begin_room"):
            await self._ask_for_a_run(self.page.pressed(button))
            await self._run_ends()
        opened = self.page.data_of(BAR)["opened"]
        self.code, self._secret = opened["code"], opened["secret"]
        self._begin_to_listen()
        self._leads = asyncio.create_task(self._lead())

    async def rested(self) -> int:
        """The number of the place where this tab rests, once it was said."""
        while self._place != with_values(self.page.query, {}):
            await asyncio.sleep(LOOK)
        return max(self.said)

    async def go_to(self, page: str) -> None:
        """Go to another page; nothing is said before it is there."""
        self._is_on_its_way, self._place = True, None
        await super().go_to(page)
        self._is_on_its_way = False

    async def _lead(self) -> None:
        """Say where this tab is: at most two places in a second, and one while it moves."""
        last, since, sent = "", 0.0, list[float]()
        while True:
            await asyncio.sleep(LOOK)
            if self._is_on_its_way:
                continue
            query, now = with_values(self.page.query, {}), time.perf_counter()
            if query != last:
                last, since = query, now
            sent = [when for when in sent if now - when < SECOND]
            if query != self._place and len(sent) < (1 if now - since < MOVES else MOST):
                sent.append(now)
                await self._say(Place(self.name, query, max(int(1000 * time.time()), max(self.said, default=0) + 1)))

    async def _say(self, place: Place) -> None:
        begin = time.perf_counter()
        address = f"{self._address}/rooms/{self.code}/place"
        try:
            async with self._http.post(address, json=asdict(place), headers=self._headers) as answer:
                self.kept.refused += answer.status == 503
                if answer.status != 204:
                    raise ValueError(f"expected 204, got {answer.status}: {await answer.text()}")
            self.said[place.number], self._place = begin, place.query
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self.kept.errors.append(f"a place was not said: {type(error).__name__}: {error}")


class Follower(RoomTab):
    """A tab that follows a room.

    Args:
        address: of the server.
        code: of the room.
        kept: where it notes what it sees.

    Attributes:
        heard, seen, run: the number of a place -> when it was heard; when the last byte of its pictures was there; when
            the page had been run there.
        runs: how often it has asked for a run of its page to go along.
        has_run: whether a run has ended since the last of them was asked for.
    """

    def __init__(self, address: str, code: str, kept: Kept) -> None:
        super().__init__(address, f"/room?code={code}", kept)
        self.code = code
        self.heard: dict[int, float] = {}
        self.seen: dict[int, float] = {}
        self.run: dict[int, float] = {}
        self.runs = 0
        self.has_run = True
        self._place: Place | None = None  # the newest
        self._numbers: dict[str, int] = {}  # the query of a place -> its number
        self._wish: Place | None = None  # the newest whose pictures are to be asked for
        self._commits = 0
        self._first = asyncio.Event()  # it has heard where the room is
        self._has_entered = False
        self._timer: asyncio.Task[None] | None = None

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the tab."""
        if self._timer:
            self._timer.cancel()
            await asyncio.wait([self._timer])
        await super().__aexit__(*_)

    async def enter(self) -> None:
        """Come in by the room's link, and go where the room is."""
        await self.open()
        self._begin_to_listen()
        await self._ask_for_a_run(self.page.told(BAR, "told", {"code": self.code, "secret": "", "leads": False}))
        await self._run_ends()
        await self._first.wait()
        while self._place and self.name != self._place.page:
            self.leave()
            await self._go(self._place, self.page.data_of(BAR)["heard"])
            await self._run_ends()
        self._has_entered = True

    @property
    def is_there(self) -> bool:
        """Whether the page is where the room is."""
        return self._place is not None and self._is_at(self._place)

    def _is_at(self, place: Place) -> bool:
        return self.name == place.page and with_values(self.page.query, {}) == place.query

    def _hear(self, news: Mapping[str, Any]) -> None:
        super()._hear(news)
        if not news.get("place"):
            return
        self._place = place = Place(**news["place"])
        self._numbers[place.query] = place.number
        self.heard[place.number] = time.perf_counter()
        self._first.set()
        if self._timer:
            self._timer.cancel()
        if not self._has_entered or self._is_at(place):
            return  # `enter` goes there
        if self.name != place.page:
            self._timer = asyncio.create_task(self._go_to_page(place))
            return
        self._wish = place
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_while_moved())
        self._timer = asyncio.create_task(self._go_at_rest(place))

    async def _ask_while_moved(self) -> None:
        """Ask for the pictures of the newest place, and again as long as there is a newer one."""
        while self._wish:
            await asyncio.sleep(random.random() * milliseconds("APART") * self.members)
            place, self._wish = self._wish, None
            wanted = [replace(shown, query=place.query) for shown in self.page.pictures if not shown.slow]
            self._asked_for.update(wanted)
            if await self.pictures(wanted):
                self.seen[place.number] = time.perf_counter()

    async def _go_at_rest(self, place: Place) -> None:
        """Run the page when the owner rests, at a time of its own."""
        await asyncio.sleep(milliseconds("RESTS") + random.random() * milliseconds("EACH") * self.members)
        self._commits = max(self._commits, self.page.data_of(BAR)["heard"]) + 1
        await self._go(place, self._commits)

    async def _go_to_page(self, place: Place) -> None:
        """Go along to another page, and note when all its pictures are there."""
        self.leave()
        self._wish = None
        await self._go(place, self.page.data_of(BAR)["heard"])
        while not self._is_at(place):
            await self._run_ends()
        await asyncio.gather(*self._others)
        self.seen[place.number] = time.perf_counter()

    async def _go(self, place: Place, number: int) -> None:
        self.runs += 1
        self.has_run = False
        await self._ask_for_a_run(self.page.told(BAR, "follow", asdict(replace(place, number=number))))

    def _note_answered(self) -> None:
        """Note that the page has been run where the room is, or was a little before."""
        self.has_run = True
        if self._place and self.name == self._place.page:
            number = self._numbers.get(with_values(self.page.query, {}), 0)
            self.run.setdefault(number, time.perf_counter())

    def _ask_for_the_rest(self) -> None:
        """Ask for what the page now shows, and was not asked for yet, unless it is out of date already."""
        if self._place is None or self._is_at(self._place):
            super()._ask_for_the_rest()
