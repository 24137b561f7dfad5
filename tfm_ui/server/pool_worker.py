"""A worker process of the pool, from within: computes for the server, each question in a thread of its own.

The process is a server of `multiprocessing.managers`, which accepts questions over a socket and answers each
connection in a thread. So a worker that computes something slow still answers quick questions.
"""

import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from multiprocessing.managers import BaseManager, BaseProxy
from multiprocessing.util import get_temp_dir
from typing import Any

import psutil

from tfm_ui.server import logs
from tfm_ui.visitors.compute_limiter import VisitorGone
from tfm_ui.visitors.turn import SlowLaneNeeded


class TurnElsewhere:
    """A turn that the server's process holds: here nothing waits.

    Args:
        heavy: whether the turn is in the slow lane.
    """

    def __init__(self, *, heavy: bool) -> None:
        self.heavy = heavy
        self.dropped = threading.Event()

    def check_wanted(self) -> None:
        """Raise VisitorGone if the server has dropped the question."""
        if self.dropped.is_set():
            raise VisitorGone

    def enter_slow_lane(self) -> None:
        """Raise SlowLaneNeeded unless the turn is in the slow lane: only the server can wait for a place there."""
        if not self.heavy:
            raise SlowLaneNeeded


class Desk:
    """What the server can ask of this process.

    Args:
        compute: computes an answer, in a turn and of more arguments.
    """

    def __init__(self, compute: Callable[..., Any]) -> None:
        self._compute = compute
        self._turns: dict[int, TurnElsewhere] = {}
        self._quick = threading.Lock()  # of quick questions one is computed at a time

    def ask(self, number: int, heavy: bool, arguments: Sequence[Any]) -> Any:
        """The answer of `compute`; raises what that raises.

        Args:
            number: names the question for `drop`.
            heavy: whether the turn is in the slow lane.
            arguments: of the question.
        """
        turn = self._turns[number] = TurnElsewhere(heavy=heavy)
        try:
            with nullcontext() if heavy else self._quick:
                return self._compute(turn, *arguments)
        finally:
            del self._turns[number]

    def drop(self, number: int) -> None:
        """Nobody waits for this question's answer any more: it ends before its next computation."""
        if turn := self._turns.get(number):
            turn.dropped.set()

    def pid(self) -> int:
        """The number of this process."""
        return os.getpid()


class DeskProxy(BaseProxy):
    """The desk as the server sees it. Every method raises EOFError or OSError if the process has ended."""

    _exposed_ = ("ask", "drop", "pid")

    def ask(self, number: int, heavy: bool, arguments: Sequence[Any]) -> Any:
        """See `Desk.ask`."""
        return self._call("ask", number, heavy, arguments)

    def drop(self, number: int) -> None:
        """See `Desk.drop`."""
        self._call("drop", number)

    def pid(self) -> int:
        """See `Desk.pid`."""
        pid: int = self._call("pid")
        return pid

    def _call(self, method: str, *arguments: Any) -> Any:
        call: Callable[..., Any] = self._callmethod
        return call(method, arguments)


class WorkerManager(BaseManager):
    """Starts a worker process."""

    def desk(self, compute: Callable[..., Any]) -> DeskProxy:
        """A desk in the process, which has been started; see `Desk`."""
        raise NotImplementedError("expected `register` to have replaced this method")


WorkerManager.register("desk", Desk, DeskProxy)


def begin() -> None:
    """Prepare a new worker process before its first question."""
    logs.set_up()
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    """End this process when the server's process has ended, however it ended."""
    server = multiprocessing.parent_process()
    assert server
    server.join()  # also returns if the server, which runs, has given this process up
    if not psutil.pid_exists(server.pid or 0):
        shutil.rmtree(get_temp_dir(), ignore_errors=True)  # the sockets: a killed server could not remove them
    os._exit(0)
