"""How the server ends when it is told to, by Ctrl-C or SIGTERM: soon, whatever it does, and with exit code 0.

Uvicorn waits for every answer under way, however long its picture takes, and then raises the signal once more, so that
an end that was asked for looks like a crash; Python waits for threads. Here all of them have a moment. The worker
process ends when its input does, which is when this process has gone.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 1.5  # seconds in which what is under way may be finished
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def quick_shutdown() -> Iterator[None]:
    """While the server runs: the first signal has it finish, the second one, or PATIENCE, ends it at once."""
    told: list[int] = []  # and no Event: the second signal may come while the first is being noted
    usual = {number: signal.getsignal(number) for number in SIGNALS}

    def end(number: int, frame: FrameType | None) -> None:
        told.append(number)
        if len(told) > 1:
            _leave()
        last_resort = threading.Timer(PATIENCE, _leave)
        last_resort.daemon = True
        last_resort.start()
        if callable(tell := usual[signal.Signals(number)]):
            tell(number, frame)

    if threading.current_thread() is threading.main_thread():  # no other may listen to signals
        for number in SIGNALS:
            signal.signal(number, end)
    yield
    if told:
        _leave()


def _leave() -> None:
    os._exit(0)
