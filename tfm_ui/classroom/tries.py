"""A limit on tries: how often a browser, and all browsers of a network, may ask for a room that is not there.

Four letters are 65,536 codes, so a room would be met by chance if a program could try for as long as it likes. Whoever
has tried too often is not told whether the next code is right: only a member who was in the room before goes on.
"""

import math
import time
from collections.abc import Callable

from cachetools import LRUCache

MOST_KNOWN = 10_000  # browsers and networks that are remembered


class Tries:
    """A bucket for each name: a try takes one out, and they come back with time.

    Args:
        most: that are in a full bucket.
        per_minute: that come back.
        clock: seconds that only grow.
    """

    def __init__(self, most: int, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.per_minute = most, per_minute
        self._rate, self._clock = per_minute / 60, clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(MOST_KNOWN)  # name -> tries, and when that was so

    def take(self, name: str) -> None:
        """Take a try."""
        self._left[name] = max(0.0, self._now(name) - 1), self._clock()

    def wait(self, name: str) -> int:
        """The seconds until this name has a try again; 0 if it has one now."""
        now = self._now(name)
        return 0 if now >= 1 else math.ceil((1 - now) / self._rate)

    def _now(self, name: str) -> float:
        tries, since = self._left.get(name, (float(self.most), 0.0))
        return min(self.most, tries + (self._clock() - since) * self._rate)
