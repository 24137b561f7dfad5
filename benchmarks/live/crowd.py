"""Many visitors of one server: each opens a link at a time of its own, and then moves a control again and again."""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Self

import aiohttp

from benchmarks.live.process_tree import ProcessTree, machine_seconds
from benchmarks.live.views import SEED, Ticked
from benchmarks.live.visitor import PATIENCE, Visitor
from benchmarks.live.visitor_kept import Kept

PAUSE = 1.0, 2.0  # seconds between two moves of a visitor
KNOWN = 5  # each fifth move is to a value that others have, too
REST = 20.0  # seconds, at most, in which the pages of the last moves are run
SHARED_SEED = "4242"  # of moves to a value that others have, too
LOOK = 5.0  # seconds between two looks at the memory


@dataclass
class Observed:
    """What was seen of a server while visitors moved controls.

    Attributes:
        kept: what the visitors saw.
        opening: what they saw before, until all of them had opened their links.
        processor: seconds of the server's processes, including the runs of pages that the moves have caused.
        driver, others: seconds of this process, and of everything else on the machine.
        wall: seconds that this took.
        memory: (seconds, MB) of the server's processes, from before the first visitor on.
    """

    kept: Kept = field(default_factory=Kept)
    opening: Kept = field(default_factory=Kept)
    processor: float = 0.0
    driver: float = 0.0
    others: float = 0.0
    wall: float = 0.0
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def errors(self) -> list[str]:
        """All that went wrong."""
        return self.opening.errors + self.kept.errors

    @property
    def tick(self) -> float:
        """Seconds of processor that a move took."""
        return self.processor / self.kept.moves if self.kept.moves else float("nan")

    def add(self, other: "Observed") -> None:
        """Add what was observed at another time."""
        for mine, more in ((self.kept, other.kept), (self.opening, other.opening)):
            for each in fields(Kept):
                setattr(mine, each.name, getattr(mine, each.name) + getattr(more, each.name))
        self.processor += other.processor
        self.driver += other.driver
        self.others += other.others
        self.wall += other.wall


class Hand:
    """Chooses the values of one view's control for all its visitors, so that none has a value that another had."""

    def __init__(self, view: Ticked, chance: random.Random) -> None:
        self.view = view
        self._seeds = iter(chance.sample(range(5000, 9999), 4999))
        *new, self._shared = chance.sample(view.values, len(view.values))
        self._new = itertools.cycle(new)
        self._was_shared = False

    def link(self) -> tuple[str, str]:
        """The link that the next visitor opens, and its seed."""
        seed = next(self._seeds)
        return self.view.opened_with(seed), str(seed)

    def new(self, seed: str) -> dict[str, str]:
        """A move of the visitor with this seed to a value that nobody has had, as long as the control has some left."""
        return {self.view.control: next(self._new)} | self._seed(seed)

    def known(self) -> tuple[dict[str, str], bool]:
        """The move that all visitors make now and then, and whether it has been made before."""
        was, self._was_shared = self._was_shared, True
        return {self.view.control: self._shared} | self._seed(SHARED_SEED), was

    def moves(self, seed: str) -> Iterator[tuple[Mapping[str, str], bool]]:
        """The moves of the visitor with this seed, and whether one was made before."""
        for number in itertools.count(1):
            yield self.known() if number % KNOWN == 0 else (self.new(seed), False)

    def chance(self, of_all: random.Random) -> random.Random:
        """What decides when a visitor moves: each at times of its own."""
        return of_all

    def _seed(self, seed: str) -> dict[str, str]:
        return {SEED: seed} if self.view.has_seed and self.view.control != SEED else {}


class Lecture(Hand):
    """Chooses the values of one view's control for a class that follows a lecturer: all make the same moves."""

    def __init__(self, view: Ticked, chance: random.Random) -> None:
        super().__init__(view, chance)
        self._made = 0

    def link(self) -> tuple[str, str]:
        """The link that all open."""
        return self.view.opened_with(int(SHARED_SEED)), SHARED_SEED

    def chance(self, of_all: random.Random) -> random.Random:
        """All move at the same times."""
        return random.Random(0)

    def moves(self, seed: str) -> Iterator[tuple[Mapping[str, str], bool]]:
        """The moves of all visitors, and whether another has made this one before."""
        for number, value in enumerate(itertools.cycle(self.view.values), 1):
            is_known, self._made = number <= self._made, max(number, self._made)
            yield {self.view.control: value}, is_known


async def together(
    address: str,
    processes: Sequence[int],
    views: Sequence[Ticked],
    visitors: int,
    *,
    spread: float,
    seconds: float,
    hand: type[Hand] = Hand,
) -> Observed:
    """Visitors at the same time. They come within `spread` seconds; `seconds` are measured when all are there."""
    tree, chance, observed = ProcessTree(*processes), random.Random(visitors), Observed()
    hands = [hand(view, chance) for view in views]
    places = [number * len(views) // visitors if visitors < len(views) else number for number in range(visitors)]
    all_there, crowd, end = asyncio.Event(), list[Visitor](), asyncio.Event()
    arrived = set[int]()

    def arrive(number: int) -> None:
        arrived.add(number)
        if len(arrived) == visitors:
            all_there.set()

    async def visit(number: int, hand: Hand) -> None:
        await asyncio.sleep(chance.uniform(0, spread))
        link, seed = hand.link()
        try:
            async with Visitor(address, link, observed.opening) as visitor:
                await visitor.open()
                crowd.append(visitor)
                arrive(number)
                if isinstance(hand, Lecture):
                    await all_there.wait()
                await move(visitor, hand.moves(seed), hand.chance(chance), end=end)
                await visitor.rest(REST)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            observed.opening.errors.append(f"the visitor of {link} was lost: {type(error).__name__}: {error}")
            arrive(number)

    async with WatchedMemory(tree, observed), asyncio.TaskGroup() as group:
        tabs = [group.create_task(visit(n, hands[place % len(hands)])) for n, place in enumerate(places)]
        async with asyncio.timeout(spread + 2 * PATIENCE):
            await all_there.wait()
        for visitor in crowd:
            visitor.kept = observed.kept
        with Measured(tree, observed):
            await asyncio.sleep(seconds)
            end.set()
            await asyncio.wait(tabs)
    return observed


async def move(
    visitor: Visitor,
    moves: Iterator[tuple[Mapping[str, str], bool]],
    chance: random.Random,
    *,
    until: float = float("inf"),
    end: asyncio.Event | None = None,
    pause: tuple[float, float] = PAUSE,
) -> None:
    """Move controls again and again. A move does not wait for the answer to the one before, as people do not."""
    due = time.perf_counter()
    while True:
        due += chance.uniform(*pause)
        if due >= until:
            return
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if end and end.is_set():
            return
        values, is_known = next(moves)  # not before, as others may meanwhile make the same move
        await visitor.move(values, is_known=is_known)


class Measured:
    """Adds to what is observed how much processor was used within this block."""

    def __init__(self, tree: ProcessTree, observed: Observed) -> None:
        self._tree, self._observed = tree, observed

    def _now(self) -> tuple[float, float, float, float]:
        return time.perf_counter(), time.process_time(), self._tree.processor_seconds(), machine_seconds()

    def __enter__(self) -> None:
        self._before = self._now()

    def __exit__(self, *_: object) -> None:
        wall, driver, server, machine = (now - was for now, was in zip(self._now(), self._before, strict=True))
        self._observed.wall, self._observed.driver, self._observed.processor = wall, driver, server
        self._observed.others = machine - driver - server


class WatchedMemory:
    """Looks at the server's memory every few seconds, from before the block until its end."""

    def __init__(self, tree: ProcessTree, observed: Observed) -> None:
        self._tree, self._observed, self._since = tree, observed, time.perf_counter()

    async def __aenter__(self) -> Self:
        await self.look()
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        await self.look()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self.look()

    async def look(self) -> None:
        """Note how much memory there is now."""
        memory = await asyncio.to_thread(self._tree.memory)
        self._observed.memory.append((time.perf_counter() - self._since, memory))
