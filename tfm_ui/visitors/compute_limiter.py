"""Limits how many computations run at the same time, and how many may wait; visitors take turns.

There are three lanes, each with its own queue. Slow computations never take a place in the other two, so one visitor's
large models cost the others a share of the processor, but no waiting. Pages never take a place of pictures: a moved
control asks for both, and in one queue a visitor's picture would wait for a second turn, after the page.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum

from tfm_ui.settings import SETTINGS
from tfm_ui.visitors import metrics
from tfm_ui.visitors.fair_queue import FairQueue
from tfm_ui.visitors.visitor import address_of

RETRY = 2  # seconds after which asking again makes sense


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
        admitted: done when the computation may begin.
        left: whether the place has been given back.
    """

    visitor: str
    lane: Lane
    admitted: Future[None] = field(default_factory=Future)
    left: bool = False


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
    ) -> None:
        """Set the limits.

        Args:
            pictures: how many pictures may be computed at the same time.
            pages: how many pages may run at the same time.
            slow: how many slow computations, of pictures or pages, may run at the same time.
            per_visitor: how many computations of one visitor may wait.
            per_address: how many of one network address may wait: of a school class, or of a client that invents
                visitors.
            in_all: how many of all visitors may wait.
        """
        self._places: dict[Lane, int] = {Lane.PICTURES: pictures, Lane.PAGES: pages, Lane.SLOW: slow}
        self._free = dict(self._places)
        self._most = per_visitor, per_address, in_all
        self._queues: dict[Lane, FairQueue[Ticket]] = {lane: FairQueue(address_of) for lane in self._places}
        self._waiting: set[Ticket] = set()
        self._lock = threading.Lock()

    def ask(self, visitor: str, lane: Lane = Lane.PICTURES) -> Ticket:
        """Take a ticket, which may be admitted at once. The caller must give it back with `leave`, also after an error.

        Raises:
            Busy: if too many computations wait.
        """
        ticket = Ticket(visitor, lane)
        with self._lock:
            if not self._free[lane]:
                self._refuse_too_many(ticket)
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
                self._queues[ticket.lane].leave(ticket.visitor, ticket)
            else:
                self._free[ticket.lane] += 1
                self._admit(ticket.lane)

    def load(self) -> dict[Lane, tuple[int, int]]:
        """Lane -> how many computations run in it, and how many wait for it."""
        with self._lock:
            return {
                lane: (places - self._free[lane], sum(ticket.lane == lane for ticket in self._waiting))
                for lane, places in self._places.items()
            }

    def _admit(self, lane: Lane) -> None:
        while self._free[lane] and (ticket := self._queues[lane].next()):
            self._free[lane] -= 1
            self._waiting.discard(ticket)
            ticket.admitted.set_result(None)

    def _refuse_too_many(self, ticket: Ticket) -> None:
        per_visitor, per_address, in_all = self._most

        def waiting(whose: Callable[[Ticket], bool]) -> int:
            return sum(map(whose, self._waiting))

        if waiting(lambda other: other.visitor == ticket.visitor) >= per_visitor:
            limit, full = "waiting_per_visitor", f", and {per_visitor} pictures or pages of yours are waiting already"
        elif waiting(lambda other: address_of(other.visitor) == address_of(ticket.visitor)) >= per_address:
            limit = "waiting_per_address"
            full = f": {per_address} pictures or pages for your network are waiting already"
        elif len(self._waiting) >= in_all:
            limit, full = "waiting", f": {in_all} pictures or pages of all visitors are waiting"
        else:
            return
        metrics.REFUSED.labels(limit).inc()
        raise Busy(f"The server is busy{full}{SETTINGS.lowered_by(limit)}.")
