"""Limits how many computations run at the same time, and how many may wait; visitors take turns.

There are three lanes, each with its own queue. Slow computations never take a place in the other two, so one visitor's
large models cost the others a share of the processor, but no waiting. Pages never take a place of pictures: a moved
control asks for both, and in one queue a visitor's picture would wait for a second turn, after the page.

No page is refused: a tab waits for one run of its page at most (tfm_ui/server/page_turns.py), and tabs are limited.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count

from tfm_ui.settings import SETTINGS
from tfm_ui.visitors import metrics
from tfm_ui.visitors.fair_queue import FairQueue
from tfm_ui.visitors.visitor import address_of

RETRY = 2  # seconds after which asking again makes sense
FIRST_GUESS = 0.05  # seconds that a computation takes, before any has been timed
REMEMBERED = 4096  # visitors whose last turn is known: who has had none for long is not kept out of a full queue
NEWEST = 0.1  # the share of the newest computation in the mean of how long they take


class Lane(StrEnum):
    """A lane, by what it is called on the page of the server's status."""

    PICTURES = "pictures"
    PAGES = "pages"
    SLOW = "slow computations"


class Busy(Exception):
    """Too many computations wait already; the message says whose."""


class VisitorGone(Exception):
    """The visitor no longer waits for the result, so the rest of the work is not done."""


@dataclass(eq=False)
class Ticket:
    """A place in a lane.

    Attributes:
        visitor: for whom the computation is (tfm_ui/visitors/visitor.py).
        lane: which lane.
        admitted: done when the computation may begin; it raises Busy if another has taken its place in a full queue.
        left: whether the place has been given back.
        number: which of all tickets it is.
        begun: the time at which it was admitted, in seconds.
        address: the visitor's network address.
    """

    visitor: str
    lane: Lane
    admitted: Future[None] = field(default_factory=Future)
    left: bool = False
    number: int = field(default_factory=count().__next__)
    begun: float = 0.0
    address: str = field(init=False)

    def __post_init__(self) -> None:
        self.address = address_of(self.visitor)


class ComputeLimiter:
    """The lanes and their queues. Any thread may call the methods, and none of them blocks."""

    def __init__(
        self,
        *,
        pictures: int,
        pages: int,
        slow: int,
        per_visitor: int = SETTINGS.waiting_per_visitor,
        per_address: int = SETTINGS.waiting_per_address,
        in_all: int = SETTINGS.waiting,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the limits.

        Args:
            pictures: how many pictures may be computed at the same time.
            pages: how many pages may run at the same time.
            slow: how many slow computations, of pictures or pages, may run at the same time.
            per_visitor: how many computations of one visitor may wait, pages not counted.
            per_address: how many of one network address may wait: of a school class, or of a client that invents
                visitors.
            in_all: how many of all visitors may wait.
            clock: tells the time in seconds.
        """
        self._places: dict[Lane, int] = {Lane.PICTURES: pictures, Lane.PAGES: pages, Lane.SLOW: slow}
        self._free = dict(self._places)
        self._most = per_visitor, per_address, in_all
        self._queues: dict[Lane, FairQueue[Ticket]] = {lane: FairQueue(address_of) for lane in self._places}
        self._waiting: set[Ticket] = set()
        self._turns: dict[str, float] = {}  # visitor -> when their last picture was begun, the newest at the end
        self._took = dict.fromkeys(self._places, FIRST_GUESS)  # seconds, the mean, of the newest above all
        self._clock = clock
        self._lock = threading.Lock()

    def ask(self, visitor: str, lane: Lane = Lane.PICTURES) -> Ticket:
        """Take a ticket, which may be admitted at once. The caller must give it back with `leave`, also after an error.

        Raises:
            Busy: if too many computations wait.
        """
        ticket = Ticket(visitor, lane)
        with self._lock:
            if not self._free[lane] and lane is not Lane.PAGES:
                self._make_room(ticket)
            self._waiting.add(ticket)
            self._queues[lane].add(visitor, ticket)
            self._admit(lane)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give the ticket back: the computation has ended, or nobody wants it any more. A second call does nothing."""
        with self._lock:
            if ticket.left:
                return
            ticket.left = True
            if ticket in self._waiting:
                self._waiting.discard(ticket)
                self._queues[ticket.lane].drop(ticket)
            else:
                self._took[ticket.lane] += NEWEST * (self._clock() - ticket.begun - self._took[ticket.lane])
                self._free[ticket.lane] += 1
                self._admit(ticket.lane)

    def join(self, ticket: Ticket, visitor: str) -> None:
        """Let this visitor wait for the same computation, which begins in the earliest turn of all who wait for it."""
        with self._lock:
            if ticket in self._waiting:
                self._queues[ticket.lane].add(visitor, ticket)

    def part(self, ticket: Ticket, visitor: str) -> None:
        """This visitor no longer waits for a computation that others may wait for."""
        with self._lock:
            if ticket in self._waiting:
                self._queues[ticket.lane].leave(visitor, ticket)

    def load(self) -> dict[Lane, tuple[int, int]]:
        """Lane -> how many computations run in it, and how many wait for it."""
        with self._lock:
            return {
                lane: (places - self._free[lane], sum(ticket.lane == lane for ticket in self._waiting))
                for lane, places in self._places.items()
            }

    def has_no_queue(self, lane: Lane) -> bool:
        """Whether nothing waits for this lane."""
        with self._lock:
            return not any(ticket.lane == lane for ticket in self._waiting)

    def expected(self, visitor: str) -> float:
        """The seconds, by estimate, until what this visitor waits for may begin; 0 if nothing waits.

        A page comes before its pictures, so of several lanes the times are added.
        """
        with self._lock:
            return sum(
                (1 + self._queues[lane].before(visitor)) * self._took[lane] / places
                for lane, places in self._places.items()
                if self._queues[lane].of(visitor)
            )

    def _admit(self, lane: Lane) -> None:
        while self._free[lane] and (ticket := self._queues[lane].next()):
            self._free[lane] -= 1
            self._waiting.discard(ticket)
            ticket.begun = self._clock()
            if lane is not Lane.PAGES:
                self._note_turn(ticket)
            ticket.admitted.set_result(None)

    def _note_turn(self, ticket: Ticket) -> None:
        self._turns.pop(ticket.visitor, None)
        self._turns[ticket.visitor] = ticket.begun
        if len(self._turns) > REMEMBERED:
            del self._turns[next(iter(self._turns))]

    def _make_room(self, ticket: Ticket) -> None:
        """Refuse this ticket if too many wait, or another in its place: of who has more that wait, or had a turn later.

        So nobody who asks for one thing at a time is kept out by somebody who asks for many.
        """
        per_visitor, per_address, in_all = self._most
        waiting = [ticket, *(other for other in self._waiting if other.lane is not Lane.PAGES)]
        here = [other for other in waiting if other.address == ticket.address]
        if sum(other.visitor == ticket.visitor for other in here) > per_visitor:
            raise self._busy("waiting_per_visitor", f", and {per_visitor} pictures of yours are waiting already")
        if len(here) > per_address:
            busy = self._busy("waiting_per_address", f": {per_address} pictures for your network are waiting already")
            self._push_out(self._last_of(here), ticket, busy)
        elif len(waiting) > in_all:
            busy = self._busy("waiting", f": {in_all} pictures of all visitors are waiting")
            many = Counter(other.address for other in waiting)
            most = max(many, key=lambda address: (many[address], address != ticket.address))
            self._push_out(self._last_of([other for other in waiting if other.address == most]), ticket, busy)

    def _last_of(self, waiting: Sequence[Ticket]) -> Ticket:
        """The newest ticket of the visitor who has most of these; of several, of who has had a turn most recently."""
        many = Counter(other.visitor for other in waiting)
        return max(waiting, key=lambda it: (many[it.visitor], self._turns.get(it.visitor, -math.inf), it.number))

    def _push_out(self, last: Ticket, ticket: Ticket, busy: Busy) -> None:
        """Refuse the last ticket, so that another has its place; raise what it is refused by if it is the other."""
        if last is ticket:
            raise busy
        self._waiting.discard(last)
        self._queues[last.lane].drop(last)
        last.left = True
        last.admitted.set_exception(busy)

    @staticmethod
    def _busy(limit: str, full: str) -> Busy:
        metrics.REFUSED.labels(limit).inc()
        return Busy(f"The server is busy{full}{SETTINGS.lowered_by(limit)}.")
