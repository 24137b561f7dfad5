"""A bound on what is on its way over the network: where it is passed, the oldest gives way to the newest.

Who sends or reads byte by byte then harms nobody else, as others are done within milliseconds.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TransferLimit:
    """For the event loop's thread alone.

    Args:
        most: what may be on its way together, in whatever unit it is counted.
        seconds: that each may take.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._sizes: dict[asyncio.Timeout, int] = {}  # the oldest first

    @asynccontextmanager
    async def under_way(self, size: int = 1) -> AsyncIterator[None]:
        """Something of this size is on its way until the block ends.

        Raises:
            TimeoutError: if it took too long, or had to give way.
        """
        async with asyncio.timeout(self.seconds) as limit:
            self._sizes[limit] = size
            try:
                while sum(self._sizes.values()) > self.most and len(self._sizes) > 1:
                    oldest = next(iter(self._sizes))
                    del self._sizes[oldest]
                    oldest.reschedule(asyncio.get_running_loop().time())
                yield
            finally:
                self._sizes.pop(limit, None)
