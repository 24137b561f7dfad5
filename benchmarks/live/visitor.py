"""A visitor without a browser: opens a link, moves controls, and asks for pictures, as a browser does."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

import aiohttp

from benchmarks.live.visitor_answers import problem_of, split
from benchmarks.live.visitor_kept import Kept, Move
from benchmarks.live.visitor_page import WHOLE, Page, Shown, with_values
from benchmarks.streamlit_private.protocol import (
    HEALTH,
    STOPPED,
    STREAM,
    BackMsg,
    ClientState,
    ForwardMsg,
    end_of_a_run,
)
from tfm_ui.visitors.visitor import COOKIE

CONNECTIONS = 6  # that a browser opens to one server
PATIENCE = 120  # seconds that anything may take


class Visitor:
    """One browser with one tab.

    Args:
        address: of the server.
        link: the page and its query, such as "/heads?num_heads=8".
        kept: where it notes what it sees; may be replaced at any time.
    """

    def __init__(self, address: str, link: str, kept: Kept) -> None:
        path, _, query = link.partition("?")
        self.page, self.kept = Page(query), kept
        self._address, self._path = address, path
        self._asked_for: set[Shown] = set()  # what is on the screen, or on its way
        self._next: Move | None = None  # the move whose pictures are to be asked for
        self._unanswered: list[Move] = []  # the moves whose pages have not been run
        self._script = ""  # the hash of the script of the page that was opened
        self._ended = asyncio.Event()  # a run of the page
        self._asking: asyncio.Task[None] | None = None
        self._others: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Connect, as a browser does that has never been here."""
        connector = aiohttp.TCPConnector(limit=CONNECTIONS, force_close=False)
        self._http = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=PATIENCE),
            headers={"Origin": self._address, "Accept-Encoding": "gzip"},
        )
        self._began = time.perf_counter()
        async with self._http.get(f"{self._address}{HEALTH}", raise_for_status=True) as answer:
            cookies = [cookie.partition(";")[0] for cookie in answer.headers.getall("Set-Cookie")]
        token = dict(cookie.split("=", 1) for cookie in cookies)[COOKIE]
        self._cookie = {"Cookie": "; ".join(cookies)}  # with several servers, one says which of them it was
        self._socket = await self._http.ws_connect(
            f"{self._address.replace('http', 'ws', 1)}{STREAM}",
            protocols=("streamlit", token),
            headers=self._cookie,
            max_msg_size=0,
            compress=15,
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the tab."""
        tasks = [task for task in (self._reader, self._asking, *self._others) if task]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._socket.close()
        await self._http.close()

    async def open(self) -> None:
        """Run the page for the first time, and get all its pictures."""
        request = self.page.rerun()
        request.page_name = self._path.strip("/")
        context = request.context_info
        context.timezone, context.locale, context.color_scheme = "UTC", "en-US", "light"
        context.url = self._address + self._path
        await self._ask_for_a_run(request)
        await self._run_ends()
        await asyncio.gather(*self._others)
        self.kept.openings.append(time.perf_counter() - self._began)

    def leave(self) -> None:
        """Expect another page next: nothing of this one stands there."""
        self._script = ""
        self._asked_for = set()

    async def go_to(self, page: str) -> None:
        """Press the name of another page, and wait until it has been run."""
        self.leave()
        request = self.page.rerun()
        request.page_script_hash, request.page_name, request.query_string = "", page, ""
        await self._ask_for_a_run(request)
        await self._run_ends()

    async def move(self, values: Mapping[str, str], *, is_known: bool = False) -> None:
        """Move controls: Streamlit's script asks for a run of the page, and at the same time ours for pictures."""
        move = Move(values, time.perf_counter(), is_known)
        self.kept.moves += 1
        self.kept.overtaken += self._next is not None
        self._next = move
        self._unanswered.append(move)
        before = self.page.query
        moved = [
            name for name, value in values.items() if with_values(before, {name: value}) != with_values(before, {})
        ]
        self.page.choose(values)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_while_moved())
        await self._ask_for_a_run(self.page.rerun(moved))

    async def rest(self, seconds: float) -> None:
        """Move nothing until pictures and page have followed, but for at most `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if self._asking:
                    await self._asking
                while self._unanswered:
                    await self._run_ends()
                await asyncio.gather(*self._others)

    async def pictures(self, wanted: Sequence[Shown]) -> list[bytes]:
        """Ask for pictures of one link until the server is not too busy; none if something goes wrong: it is noted."""
        names = "+".join(shown.name for shown in wanted)
        try:
            return await self._answer(names, wanted[0].query, len(wanted))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self.kept.errors.append(f"{names}: {type(error).__name__}: {error}")
            return []

    async def _answer(self, names: str, query: str, number: int) -> list[bytes]:
        while True:
            answer, body = await self._posted(f"{self._address}/pictures/{names}", query.encode())
            if answer.status != 503:
                break
            self.kept.refused += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        if answer.status != 200:
            raise ValueError(f"expected 200, got {answer.status}: {body[:200].decode('utf-8', 'replace')}")
        pictures = list(split(body, number))
        self.kept.errors += [f"{names}: {problem}" for problem in map(problem_of, pictures) if problem]
        return pictures

    async def _posted(self, address: str, data: bytes) -> tuple[aiohttp.ClientResponse, bytes]:
        """The answer and its body; asked for again, as by browsers, where the server has just closed the connection."""
        try:
            return await self._post(address, data)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            return await self._post(address, data)

    async def _post(self, address: str, data: bytes) -> tuple[aiohttp.ClientResponse, bytes]:
        async with self._http.post(address, data=data, headers=self._cookie) as answer:
            return answer, await answer.read()

    async def _ask_while_moved(self) -> None:
        """Ask for the newest values, and again as long as there are newer ones: never two questions at a time."""
        while self._next:
            move, self._next = self._next, None
            following = [shown for shown in self.page.pictures if not shown.slow]
            if not following:
                continue
            wanted = [shown.at(move.values) for shown in following]
            self._asked_for.update(wanted)
            if await self.pictures(wanted):
                times = self.kept.known if move.is_known else self.kept.pictures
                times.append(time.perf_counter() - move.at)

    async def _ask_for_a_run(self, request: ClientState) -> None:
        await self._socket.send_bytes(BackMsg(rerun_script=request).SerializeToString())

    async def _run_ends(self) -> None:
        self._ended.clear()
        async with asyncio.timeout(PATIENCE):
            await self._ended.wait()

    async def _read(self) -> None:
        """Read what the server sends until the tab is closed."""
        async for message in self._socket:
            self.page.read(ForwardMsg.FromString(message.data))
            if (how := end_of_a_run(message.data)) is not None:
                self._run_has_ended(how)
        self.kept.errors.append(f"the server has closed the websocket, with code {self._socket.close_code}")

    def _run_has_ended(self, how: int) -> None:
        if how in WHOLE:
            self.kept.errors += self.page.problems
            self._script = self._script or self.page.script
            if self.page.script != self._script:
                self.kept.errors.append(f"expected the page {self._path}, got another")
            self._note_answered()
            self._ask_for_the_rest()
            self._ended.set()
        elif how != STOPPED:
            self.kept.errors.append(f"a run of the page has ended with status {how}")

    def _note_answered(self) -> None:
        """Note how long the newest move has taken whose values the page now shows."""
        queries = [shown.query for shown in self.page.pictures] or [self.page.query]
        for number, move in reversed(list(enumerate(self._unanswered))):
            if any(map(move.is_in, queries)):
                self.kept.pages.append(time.perf_counter() - move.at)
                del self._unanswered[: number + 1]
                return

    def _ask_for_the_rest(self) -> None:
        """Ask for what the page now shows, and was not asked for yet: slow pictures, and those that are new.

        What the page says, it has just said by itself; what slow panels say travels with their pictures all the same.
        """
        new = [shown for shown in self.page.pictures if shown not in self._asked_for and shown.says <= shown.slow]
        if self._next or self._unanswered:
            return  # it is out of date already
        self._asked_for = set(self.page.pictures)
        for slow in (False, True):
            wanted = [shown for shown in new if shown.slow == slow]
            if not all(shown.says for shown in wanted):
                task = asyncio.create_task(self._get(wanted))
                self._others.add(task)
                task.add_done_callback(self._others.discard)

    async def _get(self, wanted: Sequence[Shown]) -> None:
        await self.pictures(wanted)
