"""Limits how many computations run at the same time, and how many may wait; visitors take turns.

There are two lanes, a quick and a slow one, each with its own queue. Slow computations never take a place in the quick
lane, so one visitor's large models cost the others a share of the processor, but no waiting.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from tfm_ui.settings import SETTINGS
from tfm_ui.visitors.fair_queue import FairQueue
from tfm_ui.visitors.visitor import address_of

RETRY = 2  # seconds after which asking again makes sense


class Busy(Exception):
    """Too many computations wait already; the message says whose."""


class VisitorGone(Exception):
    """The visitor no longer waits for the result, so the rest of the work is not done."""


@dataclass(eq=False)
class Ticket:
    """A place in a lane.

    Attributes:
        visitor: for whom the computation is (tfm_ui/visitors/visitor.py).
        heavy: whether it is the slow lane.
        admitted: done when the computation may begin.
        left: whether the place has been given back.
    """

    visitor: str
    heavy: bool
    admitted: Future[None] = field(default_factory=Future)
    left: bool = False


class ComputeLimiter:
    """The lanes and their queues. Any thread may call the methods, and none of them blocks."""

    def __init__(
        self,
        *,
        light: int,
        heavy: int,
        per_visitor: int = SETTINGS.waiting_per_visitor,
        per_address: int = SETTINGS.waiting_per_address,
        in_all: int = SETTINGS.waiting,
    ) -> None:
        """Set the limits.

        Args:
            light: how many quick computations may run at the same time.
            heavy: how many slow computations may run at the same time.
            per_visitor: how many computations of one visitor may wait.
            per_address: how many of one network address may wait: of a school class, or of a client that invents
                visitors.
            in_all: how many of all visitors may wait.
        """
        self._places = {False: light, True: heavy}
        self._free = dict(self._places)
        self._most = per_visitor, per_address, in_all
        self._queues: dict[bool, FairQueue[Ticket]] = {False: FairQueue(address_of), True: FairQueue(address_of)}
        self._waiting: set[Ticket] = set()
        self._lock = threading.Lock()

    def ask(self, visitor: str, *, heavy: bool = False) -> Ticket:
        """Take a ticket, which may be admitted at once. The caller must give it back with `leave`, also after an error.

        Raises:
            Busy: if too many computations wait.
        """
        ticket = Ticket(visitor, heavy)
        with self._lock:
            if not self._free[heavy]:
                self._refuse_too_many(ticket)
            self._waiting.add(ticket)
            self._queues[heavy].add(visitor, ticket)
            self._admit(heavy)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give the ticket back: the computation has ended, or nobody wants it any more. A second call does nothing."""
        with self._lock:
            if ticket.left:
                return
            ticket.left = True
            if ticket in self._waiting:
                self._waiting.discard(ticket)
                self._queues[ticket.heavy].leave(ticket.visitor, ticket)
            else:
                self._free[ticket.heavy] += 1
                self._admit(ticket.heavy)

    def load(self) -> dict[str, tuple[int, int]]:
        """Lane -> how many computations run in it, and how many wait for it."""
        with self._lock:
            return {
                lane: (self._places[heavy] - self._free[heavy], sum(ticket.heavy == heavy for ticket in self._waiting))
                for lane, heavy in (("quick", False), ("slow", True))
            }

    def _admit(self, heavy: bool) -> None:
        while self._free[heavy] and (ticket := self._queues[heavy].next()):
            self._free[heavy] -= 1
            self._waiting.discard(ticket)
            ticket.admitted.set_result(None)

    def _refuse_too_many(self, ticket: Ticket) -> None:
        per_visitor, per_address, in_all = self._most
        by = SETTINGS.lowered_by

        def waiting(whose: Callable[[Ticket], bool]) -> int:
            return sum(map(whose, self._waiting))

        if waiting(lambda other: other.visitor == ticket.visitor) >= per_visitor:
            whose = f"pictures or pages of yours are waiting already{by('waiting_per_visitor')}"
            raise Busy(f"The server is busy, and {per_visitor} {whose}.")
        if waiting(lambda other: address_of(other.visitor) == address_of(ticket.visitor)) >= per_address:
            whose = f"pictures or pages for your network are waiting already{by('waiting_per_address')}"
            raise Busy(f"The server is busy: {per_address} {whose}.")
        if len(self._waiting) >= in_all:
            raise Busy(f"The server is busy: {in_all} pictures or pages of all visitors are waiting{by('waiting')}.")
