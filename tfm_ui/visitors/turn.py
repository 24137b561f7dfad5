"""Turns: every computation for a visitor (a page, a picture, a download) waits for one at the server's limiter.

A page has had its turn before its script begins: its websocket has waited for it (tfm_ui/server/page_turns.py).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import streamlit as st

from tfm_core.allocator import give_back
from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private.script_run import runs_a_script, session_here
from tfm_ui.visitors import metrics
from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, Lane, Ticket, VisitorGone
from tfm_ui.visitors.visitor import visitor_here
from tfm_ui.visitors.workers import WORKERS

# Python runs one thread of a process at a time: a second page only makes the first one wait, and what answers all
# requests, for which each change of threads costs up to 5 ms. With two pages, and one question for each worker, workers
# of a full server had nothing to do for half of the time, and pictures of 100 visitors came in 2.4 s instead of 0.3.
PAGES = 1
AT_HAND = 2  # questions of a worker: it computes one after the other, and has the next when it is done with the first
LIMITER = ComputeLimiter(pictures=AT_HAND * WORKERS, pages=PAGES, slow=SETTINGS.heavy_at_once)
PATIENCE = 60.0  # seconds that a computation waits for its turn
POLL = 0.05  # seconds between two checks whether a waiting computation is still wanted


def too_long() -> Busy:
    """What is raised where a computation has waited too long for its turn; it is counted."""
    metrics.REFUSED.labels("seconds_waited").inc()
    return Busy(f"The server is busy: this has waited {PATIENCE:.0f} seconds for its turn.")


class SlowLaneNeeded(Exception):
    """A computation takes long, but its turn is in another lane and cannot wait where the computation runs."""


class AnyTurn(Protocol):
    """What a computation needs of its turn, which may be held by another process (tfm_ui/server/pool_worker.py)."""

    def check_wanted(self) -> None:
        """Raise VisitorGone if the answer is no longer wanted."""

    def enter_slow_lane(self) -> None:
        """Go on in the slow lane, or raise SlowLaneNeeded."""


class Turn:
    """The right to compute for one visitor. It may move to the slow lane."""

    def __init__(self, who: str, wanted: Callable[[], bool] = lambda: True, *, lane: Lane = Lane.PICTURES) -> None:
        """Ask for a turn. The caller must call `end`, also after an error.

        Args:
            who: the visitor.
            wanted: tells whether the visitor still waits for the answer; it may also raise an exception.
            lane: in which it begins.

        Raises:
            Busy: if too many computations wait.
        """
        self.who, self._wanted = who, wanted
        self.ticket = LIMITER.ask(who, lane)

    def wait(self) -> None:
        """Wait until the computation may begin.

        Raises:
            Busy: if that takes too long.
            VisitorGone: if the answer is no longer wanted.
        """
        begin = time.monotonic()
        while True:
            self.check_wanted()
            try:
                return self.ticket.admitted.result(timeout=POLL)
            except TimeoutError:
                if time.monotonic() - begin > PATIENCE:
                    raise too_long() from None

    def check_wanted(self) -> None:
        """Raise VisitorGone if the answer is no longer wanted."""
        if not self._wanted():
            raise VisitorGone

    def enter_slow_lane(self) -> None:
        """Wait for a place in the slow lane, unless the turn has one. Raises what `wait` raises."""
        if self.ticket.lane is not Lane.SLOW:
            self.ask_for_slow_lane()
            self.wait()

    def ask_for_slow_lane(self) -> None:
        """Give the place back for a ticket of the slow lane; `ticket.admitted` tells when it may go on.

        Raises:
            Busy: if too many computations wait.
        """
        self.end()
        self.ticket = LIMITER.ask(self.who, Lane.SLOW)

    def end(self) -> None:
        """Give the place back, so that the next computation can begin."""
        LIMITER.leave(self.ticket)


class PicturesTurn(Turn):
    """The turn of a request for pictures: it waits on the event loop, where no thread waits with it.

    Several visitors may wait for the same pictures.
    """

    def __init__(self, who: str, wanted: Callable[[], bool] = lambda: True, *, lane: Lane = Lane.PICTURES) -> None:
        super().__init__(who, wanted, lane=lane)
        self._all = [who]

    def join(self, visitor: str) -> None:
        """Let this visitor wait for the same."""
        self._all.append(visitor)
        LIMITER.join(self.ticket, visitor)

    def part(self, visitor: str) -> None:
        """This visitor no longer waits for it."""
        self._all = [other for other in self._all if other != visitor]
        LIMITER.part(self.ticket, visitor)

    def ask_for_slow_lane(self) -> None:
        """Give the place back for a ticket of the slow lane, for all who wait."""
        super().ask_for_slow_lane()
        for visitor in self._all:
            LIMITER.join(self.ticket, visitor)

    def enter_slow_lane(self) -> None:
        """Raise SlowLaneNeeded unless the turn is in the slow lane: the computation is begun anew there."""
        if self.ticket.lane is not Lane.SLOW:
            raise SlowLaneNeeded


class PagesHere:
    """Which runs of pages have a place in the lane of pages, so that one which turns out to be slow gives it back.

    Any thread may call the methods. A tab's first run may be slow before the tab's session is known.
    """

    def __init__(self) -> None:
        self._tickets: dict[str, Ticket] = {}
        self._slow: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, session: str, ticket: Ticket) -> None:
        """The page of this session, if it is known, has begun a run in this place."""
        with self._lock:
            if session and session not in self._slow:
                self._tickets[session] = ticket
                return
            self._slow.discard(session)
        if session:
            LIMITER.leave(ticket)

    def go_slow(self, session: str) -> None:
        """The run of this session's page goes on in the slow lane."""
        with self._lock:
            ticket = self._tickets.pop(session, None)
            if not ticket:
                self._slow.add(session)
        if ticket:
            LIMITER.leave(ticket)

    def end(self, session: str, ticket: Ticket) -> None:
        """The run in this place has ended."""
        with self._lock:
            self._slow.discard(session)
            if self._tickets.get(session) is ticket:
                del self._tickets[session]

    def forget(self, session: str) -> None:
        """The session's tab is closed."""
        with self._lock:
            self._slow.discard(session)
            self._tickets.pop(session, None)


PAGES_HERE = PagesHere()


class PageTurn(Turn):
    """The turn of a page's script, which has begun. What is slow goes on in the slow lane."""

    def __init__(self, wanted: Callable[[], bool]) -> None:
        self._wanted = wanted
        self.ticket = Ticket("", Lane.PAGES, left=True)  # the place is held by the tab's websocket
        self.ticket.admitted.set_result(None)

    def ask_for_slow_lane(self) -> None:
        """Give the page's place back, and ask for one in the slow lane."""
        self.who = visitor_here()
        PAGES_HERE.go_slow(session_here())
        super().ask_for_slow_lane()


_turn: ContextVar[AnyTurn | None] = ContextVar("turn", default=None)


@contextmanager
def use_turn(turn: AnyTurn) -> Iterator[None]:
    """Let what this thread computes in the block count as part of this turn, which has begun."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


@contextmanager
def turn_to_compute(*, heavy: bool = False) -> Iterator[AnyTurn]:
    """Compute in this thread's current turn, or else in a new turn for the visitor whose script runs.

    What is slow takes much memory, too: it is given back at the end, as otherwise glibc keeps it.

    Args:
        heavy: whether the computation is slow.

    Raises:
        Busy: if too many computations wait.
        VisitorGone: if the answer is no longer wanted.
    """
    if turn := _turn.get():
        turn.check_wanted()
        if heavy:
            turn.enter_slow_lane()
        try:
            yield turn
        finally:
            if heavy:
                give_back()
        return
    new = PageTurn(_still_wanted) if runs_a_script() else Turn("", lane=Lane.SLOW if heavy else Lane.PICTURES)
    try:
        if heavy:
            new.enter_slow_lane()
        new.wait()
        with use_turn(new):
            yield new
    finally:
        if heavy:
            give_back()
        new.end()


def _still_wanted() -> bool:
    """True, or Streamlit's own exception: it stops an abandoned script as soon as the script reads its session."""
    if runs_a_script():
        _ = "_" in st.session_state
    return True
