"""Ends the server soon after Ctrl-C or SIGTERM, whatever it is doing, with exit code 0.

Uvicorn would wait for every open answer, however long its picture takes, and then raise the signal again, so that a
requested end looks like a crash; Python would wait for all threads. Here they get PATIENCE seconds. The worker process
ends when its standard input is closed, that is, together with this process.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tfm_ui.store import shared

PATIENCE = 1.5  # seconds in which running work may be finished
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def quick_shutdown() -> Iterator[None]:
    """While the server runs: the first signal lets it finish; a second signal, or PATIENCE seconds, ends it at once."""
    received: list[int] = []  # not a threading.Event: the second signal may interrupt the handling of the first
    usual = {number: signal.getsignal(number) for number in SIGNALS}

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            leave()
        last_resort = threading.Timer(PATIENCE, leave)
        last_resort.daemon = True
        last_resort.start()
        if callable(handler := usual[signal.Signals(number)]):
            handler(number, frame)

    if threading.current_thread() is threading.main_thread():  # Python lets no other thread handle signals
        for number in SIGNALS:
            signal.signal(number, end)
    yield
    if received:
        leave()


def leave(code: int = 0) -> None:
    """End this process at once, with this exit code."""
    shared.end()  # Python's own end, which would do it, is left out
    os._exit(code)
