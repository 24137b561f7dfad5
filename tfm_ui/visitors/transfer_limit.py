"""A limit on network transfers that are open at the same time: over the limit, the oldest is cancelled.

A client that sends or reads one byte at a time therefore cannot block the others, whose transfers take milliseconds.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TransferLimit:
    """A limit on open transfers, to be used in the event loop's thread only.

    Args:
        most: the total size of all open transfers, in the unit in which `transfer` counts sizes.
        seconds: how long one transfer may take.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._sizes: dict[asyncio.Timeout, int] = {}  # the oldest first

    @asynccontextmanager
    async def transfer(self, size: int = 1) -> AsyncIterator[None]:
        """A transfer of this size is open until the block ends.

        Raises:
            TimeoutError: if the transfer took too long, or was cancelled for newer ones.
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
