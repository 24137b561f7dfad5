"""Waiting for what a process does, however long a busy machine takes for it."""

import time
from collections.abc import Callable


def until(holds: Callable[[], object], *, within: float = 60, pause: float = 0.02) -> None:
    """Return as soon as something holds. It is looked at again and again, and must hold within so many seconds."""
    give_up = time.monotonic() + within
    while not holds():
        assert time.monotonic() < give_up, f"it does not hold after {within:.0f} seconds"
        time.sleep(pause)
