"""This server's one gate, and how whatever computes for a visitor passes it: a page, a picture, a download."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, VisitorGone
from tfm_ui.visitors.settings import SETTINGS
from tfm_ui.visitors.visitor import visitor_here

LIMITER = ComputeLimiter(light=SETTINGS.light_at_once, heavy=SETTINGS.heavy_at_once)
PATIENCE = 60.0  # seconds that anything waits for its turn
TOO_LONG = f"The server is busy: this has waited {PATIENCE:.0f} seconds for its turn."
POLL = 0.05  # seconds after which what waits looks whether it is still wanted


class Turn:
    """What is computed for one visitor in one go: it may begin in the quick lane, and change."""

    def __init__(self, who: str, wanted: Callable[[], bool] = lambda: True, *, heavy: bool = False) -> None:
        """Ask for it; `end` must follow whatever happens.

        Args:
            who: the visitor.
            wanted: whether the answer is still wanted; it may raise something of its own instead.
            heavy: whether it takes long from its beginning.

        Raises:
            Busy: if too much waits.
        """
        self._who, self._wanted = who, wanted
        self.ticket = LIMITER.ask(who, heavy=heavy)

    def wait(self) -> None:
        """Until it may begin.

        Raises:
            Busy: if that takes too long.
            VisitorGone: if it is no longer wanted.
        """
        begin = time.monotonic()
        while True:
            self.check_wanted()
            try:
                return self.ticket.admitted.result(timeout=POLL)
            except TimeoutError:
                if time.monotonic() - begin > PATIENCE:
                    raise Busy(TOO_LONG) from None

    def check_wanted(self) -> None:
        """Raises VisitorGone if it is no longer wanted."""
        if not self._wanted():
            raise VisitorGone

    def enter_slow_lane(self) -> None:
        """Wait for a place in the lane of what takes long, unless it has one; raises as `wait` does."""
        if not self.ticket.heavy:
            self.end()
            self.ticket = LIMITER.ask(self._who, heavy=True)
            self.wait()

    def end(self) -> None:
        """Let the next one begin."""
        LIMITER.leave(self.ticket)


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@contextmanager
def use_turn(turn: Turn) -> Iterator[None]:
    """What this thread computes now, it computes in this turn, which has begun."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


@contextmanager
def turn_to_compute(*, heavy: bool = False) -> Iterator[Turn]:
    """Compute in the turn that this thread is in, or else in a new one of the visitor whose script runs.

    Args:
        heavy: whether it takes long.

    Raises:
        Busy: if too much waits.
        VisitorGone: if whoever asked has gone.
    """
    if turn := _turn.get():
        turn.check_wanted()
        if heavy:
            turn.enter_slow_lane()
        yield turn
        return
    turn = Turn(visitor_here() if _runs_a_script() else "", _still_wanted, heavy=heavy)
    try:
        turn.wait()
        with use_turn(turn):
            yield turn
    finally:
        turn.end()


def _runs_a_script() -> bool:
    """Whether this thread runs a page's script; the server itself and tests compute without one."""
    return get_script_run_ctx(suppress_warning=True) is not None


def _still_wanted() -> bool:
    """Streamlit ends a script that nobody waits for when the script touches its session: here, by its own exception."""
    if _runs_a_script():
        _ = "_" in st.session_state
    return True
