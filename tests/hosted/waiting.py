"""Waiting for what a process does, however long a busy machine takes for it, and however short what it does is."""

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress


def until(holds: Callable[[], object], *, within: float = 60, pause: float = 0.02) -> None:
    """Return as soon as something holds. It is looked at again and again, and must hold within so many seconds."""
    give_up = time.monotonic() + within
    while not holds():
        assert time.monotonic() < give_up, f"it does not hold after {within:.0f} seconds"
        time.sleep(pause)


@contextmanager
def standing_still(processes: Collection[int]) -> Iterator[None]:
    """What these processes are asked in this block is under way until its end, however fast or slow the machine is."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):  # the test has ended it
                os.kill(process, signal.SIGCONT)
