"""How long the last answers took, by kind: what /status tells of them."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

KEPT = 1000  # of each kind
PAGE, PICTURES = "page runs", "pictures"

_lock = threading.Lock()
_seconds: dict[str, deque[float]] = {kind: deque(maxlen=KEPT) for kind in (PAGE, PICTURES)}


def note(kind: str, seconds: float) -> None:
    """Note how long an answer of this kind took. Any thread may call it."""
    with _lock:
        _seconds[kind].append(seconds)


@contextmanager
def timed(kind: str) -> Iterator[None]:
    """Note how long the block takes, also if it ends by an exception, as Streamlit ends a run that is out of date."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        note(kind, time.perf_counter() - begin)


def of_last() -> dict[str, dict[str, float]]:
    """Kind -> how many of the last answers are known, and their median and 95th percentile in milliseconds."""
    with _lock:
        known = {kind: sorted(seconds) for kind, seconds in _seconds.items()}
    return {
        kind: {"count": len(seconds)} | {f"p{share}_ms": _percentile(seconds, share) for share in (50, 95) if seconds}
        for kind, seconds in known.items()
    }


def _percentile(seconds: list[float], share: int) -> float:
    """The shortest time that is not shorter than this percentage of the sorted times, in milliseconds."""
    return round(seconds[math.ceil(len(seconds) * share / 100) - 1] * 1000, 1)
