"""A room with followers: its owner moves a control in bursts, then goes to other pages, while others use the server."""

import asyncio
import itertools
import random
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import aiohttp

from benchmarks.live.crowd import Hand, Measured, Observed, WatchedMemory, move
from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.room_tabs import Follower, Owner
from benchmarks.live.views import SEED, Ticked
from benchmarks.live.visitor import PATIENCE, Visitor
from benchmarks.live.visitor_kept import Kept

SPREAD = 20.0  # seconds within which followers come
CALM = 3.0  # seconds in which what their coming has caused comes to its end
IDLE = 15.0  # seconds for which others are measured while the room rests
# Moves of a burst, and the seconds between two: by turns presses, each of which is said, and a drag, of which one place
# is said each second.
BURSTS = ((6, 0.5), (30, 0.1))
REST = 10.0  # seconds between two bursts, in which somebody speaks: long enough that pages are run, too
PAGE_REST = 20.0  # seconds for which the owner stays at a page
TURNS = 2  # times that the owner goes to another page and back
LATE = 20.0  # seconds, at most, until all pages are where the room is
QUIET = 2  # visitors in no room
QUIET_PAUSE = 0.4, 0.6  # seconds between two of their moves: many, as the slowest of them count


@dataclass
class Lecture:
    """What was seen of a lecture; all times are in seconds.

    Attributes:
        observed: by the owner and the followers; `opening` is until all of them are there.
        hearing: from a place where the owner rests until a follower has heard of it.
        pictures: from such a place until a follower has the last byte of its pictures.
        runs_after: from such a place until a follower's page has been run there.
        rests: how often the owner rested.
        runs: of followers' pages, that they have asked for to go along.
        pages: from when the owner is at another page until a follower has the last byte of its pictures.
        idle, beside, turning: what visitors in no room saw before the lecture, during it, and while its pages changed.
        there: how many looks at the memory there were before the lecture; the last of them was with all followers.
    """

    observed: Observed = field(default_factory=Observed)
    hearing: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    runs_after: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    rests: int = 0
    runs: int = 0
    idle: Kept = field(default_factory=Kept)
    beside: Kept = field(default_factory=Kept)
    turning: Kept = field(default_factory=Kept)
    there: int = 0

    @property
    def kept(self) -> list[Kept]:
        """What anybody saw."""
        return [self.observed.opening, self.observed.kept, self.idle, self.beside, self.turning]

    @property
    def memory(self) -> list[tuple[float, float]]:
        """(seconds, MB) of the server's processes, from the moment on at which all followers were there."""
        looks = self.observed.memory[self.there - 1 :]
        return [(at - looks[0][0], mb) for at, mb in looks]


async def lecture(
    address: str, process: int, views: Sequence[Ticked], followers: int, seconds: float, idle: float = IDLE
) -> Lecture:
    """Hold a lecture.

    Args:
        address: of the server.
        process: the server's.
        views: where the owner is, whose seed is moved, and where visitors are who are in no room.
        followers: how many follow.
        seconds: how long the owner moves and rests.
        idle: seconds for which others are measured before.
    """
    held, tree, chance = Lecture(), ProcessTree(process), random.Random(followers)
    observed, (led, other) = held.observed, views
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(WatchedMemory(tree, observed))
        owner = await stack.enter_async_context(Owner(address, led.opened_with(1), observed.opening))
        await owner.open()
        await owner.open_room()
        await owner.rested()
        tabs = [Follower(address, owner.code, observed.opening) for _ in range(followers)]
        crowd = await _arrived(stack, tabs, chance)
        await asyncio.sleep(CALM)
        await memory.look()
        held.there = len(observed.memory)
        for tab in (owner, *crowd):
            tab.kept = observed.kept
        async with _Beside(stack, address, other, chance) as quiet:
            quiet.seen_by(held.idle)
            await asyncio.sleep(idle)
            quiet.seen_by(held.beside)
            with Measured(tree, observed):
                rests = await _led(owner, chance, seconds)
                await _followed(crowd)
            held.runs = sum(tab.runs for tab in crowd)
            quiet.seen_by(held.turning)
            turns = await _turned(owner, [other.page, led.page] * TURNS)
            await _followed(crowd)
    _note(held, owner, crowd, rests)
    held.pages = [seconds for number in turns for seconds in _after(number, owner, [tab.seen for tab in crowd])]
    return held


async def _arrived(stack: AsyncExitStack, tabs: Sequence[Follower], chance: random.Random) -> list[Follower]:
    """The followers, all of whom are where the room is. Who does not come is an error."""

    async def come(tab: Follower) -> Follower | None:
        await asyncio.sleep(chance.uniform(0, SPREAD))
        try:
            async with asyncio.timeout(PATIENCE):
                await stack.enter_async_context(tab)
                await tab.enter()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            tab.kept.errors.append(f"a follower did not come in: {type(error).__name__}: {error}")
            return None
        return tab

    return [tab for tab in await asyncio.gather(*map(come, tabs)) if tab]


async def _led(owner: Owner, chance: random.Random, seconds: float) -> list[int]:
    """Move a control in bursts, to values that nobody has had; the numbers of the places at their ends."""
    seeds = map(str, chance.sample(range(5000, 9999), 4999))
    rests, loop = list[int](), asyncio.get_running_loop()
    end = loop.time() + seconds
    bursts = itertools.cycle(BURSTS)
    while loop.time() < end:
        moves, pause = next(bursts)
        for _ in range(moves):
            await owner.move({SEED: next(seeds)})
            await asyncio.sleep(pause)
        rests.append(await owner.rested())
        await asyncio.sleep(REST)
    return rests


async def _turned(owner: Owner, pages: Sequence[str]) -> list[int]:
    """Go to pages, one after the other, and stay at each; the numbers of their places."""
    turns = []
    for page in pages:
        await owner.go_to(page)
        turns.append(await owner.rested())
        await asyncio.sleep(PAGE_REST)
    return turns


async def _followed(crowd: Sequence[Follower]) -> None:
    """Wait until all pages are where the room is. One that does not get there is an error."""
    loop = asyncio.get_running_loop()
    end = loop.time() + LATE
    while loop.time() < end and not all(tab.is_there for tab in crowd):
        await asyncio.sleep(0.1)
    for tab in crowd:
        if not tab.is_there:
            why = "its last run has ended elsewhere" if tab.has_run else "its last run has not ended"
            tab.kept.errors.append(f"a page was not where the room is {LATE:g} s after the owner's last rest: {why}")


class _Beside:
    """Visitors in no room, who move a control to ever new values for as long as the block lasts."""

    def __init__(self, stack: AsyncExitStack, address: str, view: Ticked, chance: random.Random) -> None:
        self._stack, self._chance, self._hand, self._end = stack, chance, Hand(view, chance), asyncio.Event()
        links = [self._hand.link() for _ in range(QUIET)]
        self._tabs = [(Visitor(address, link, Kept()), seed) for link, seed in links]

    async def __aenter__(self) -> "_Beside":
        for tab, _ in self._tabs:
            await self._stack.enter_async_context(tab)
            await tab.open()
        self._moving = [asyncio.create_task(self._move(tab, seed)) for tab, seed in self._tabs]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end.set()
        await asyncio.wait(self._moving)

    def seen_by(self, kept: Kept) -> None:
        """Let what is seen from now on be noted here."""
        for tab, _ in self._tabs:
            tab.kept = kept

    async def _move(self, tab: Visitor, seed: str) -> None:
        moves = ((self._hand.new(seed), False) for _ in itertools.count())
        await move(tab, moves, self._chance, end=self._end, pause=QUIET_PAUSE)


def _note(held: Lecture, owner: Owner, crowd: Sequence[Follower], rests: Sequence[int]) -> None:
    """Note how long it took until each follower had followed to each place where the owner rested."""
    held.rests = len(rests)
    for number in rests:
        held.hearing += _after(number, owner, [tab.heard for tab in crowd])
        held.pictures += _after(number, owner, [tab.seen for tab in crowd])
        held.runs_after += _after(number, owner, [tab.run for tab in crowd])


def _after(number: int, owner: Owner, noted: Sequence[Mapping[int, float]]) -> list[float]:
    """Seconds from when the owner said a place until each follower has noted it.

    What comes later stands for it: who was slow asks for the newest place alone.
    """
    return [
        min((at for other, at in times.items() if other >= number), default=float("inf")) - owner.said[number]
        for times in noted
    ]
