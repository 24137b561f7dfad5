"""The turns of a tab's page: a run waits for its turn before it begins, and whatever is asked meanwhile joins it.

Where runs themselves wait, each newer act ends the run that waits, and the next begins at the end of the queue: with
more moves than a server can follow, a visitor who goes on moving is never served, and each run that waits has a thread.
"""

import asyncio
import time

from tfm_ui.streamlit_private.protocol import BackMsg
from tfm_ui.visitors import metrics
from tfm_ui.visitors.compute_limiter import Lane, Ticket
from tfm_ui.visitors.rest import joined
from tfm_ui.visitors.turn import LIMITER, PAGES_HERE

# Seconds after which a run no longer counts, though nobody has said that it has ended; and after which it must have
# begun: of some messages, such as those for a part of a page that is gone, Streamlit makes no run, and all others wait.
LONGEST, BEGINS = 10.0, 0.25


class PageTurns:
    """The turns of one tab: at most one run that waits, and one that has begun. For the thread of the event loop.

    Args:
        visitor: whose tab it is.

    Attributes:
        admitted: done when the run that waits may begin; None if none waits.
    """

    def __init__(self, visitor: str) -> None:
        self._visitor, self._session = visitor, ""
        self._messages: list[BackMsg] = []  # ask for the run that waits
        self._waiting: Ticket | None = None
        self.admitted: asyncio.Future[None] | None = None
        self._running: Ticket | None = None
        self._given_up: asyncio.TimerHandle | None = None
        self._began = 0.0

    def put(self, asked: BackMsg) -> None:
        """Let this request wait for a turn, with those that wait already."""
        if self._messages and joined(self._messages[-1], asked):
            self._messages.pop()
        self._messages.append(asked)
        if not self._waiting:
            if self._running and LIMITER.has_no_queue(Lane.PAGES):
                self.end()  # Streamlit ends that run for this one; while others wait, it has to come to its end first
            self._waiting = LIMITER.ask(self._visitor, Lane.PAGES)
            self.admitted = asyncio.wrap_future(self._waiting.admitted)

    def take(self) -> list[BackMsg]:
        """The requests of the run that has been admitted. It ends the one before, if that has not ended."""
        self.end()
        self._running, self._waiting, self.admitted = self._waiting, None, None
        messages, self._messages = self._messages, []
        if self._running:
            self._began = time.monotonic()
            PAGES_HERE.begin(self._session, self._running)
            self._given_up = asyncio.get_running_loop().call_later(BEGINS, self.end)
        return messages

    def runs_as(self, session: str) -> None:
        """Note that the run has begun, and Streamlit's name for the tab, which its first run tells."""
        self._session = session
        if self._running:
            if self._given_up:
                self._given_up.cancel()
            self._given_up = asyncio.get_running_loop().call_later(LONGEST, self.end)
            PAGES_HERE.begin(session, self._running)

    def ended(self) -> None:
        """The run has come to its end: how long it took is noted, and its place is free."""
        if self._running:
            metrics.PAGE_RUNS.observe(time.monotonic() - self._began)
        self.end()

    def end(self) -> None:
        """Give the place of the run back, whether it has come to its end or is given up."""
        if self._given_up:
            self._given_up.cancel()
        if self._running:
            PAGES_HERE.end(self._session, self._running)
            LIMITER.leave(self._running)
        self._running = self._given_up = None

    def close(self) -> None:
        """The tab is closed."""
        self.end()
        if self._waiting:
            LIMITER.leave(self._waiting)
        PAGES_HERE.forget(self._session)
