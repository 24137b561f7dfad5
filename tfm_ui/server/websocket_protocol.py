"""A limit on the frames of a websocket: each costs the server far more than its sender, however small it is.

A browser sends a frame for each act, and one in answer to the server's ping every half minute. Uvicorn takes as many as
come: in 256 kB there are 40,000 empty ones, which keep all others waiting for seconds.
"""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

MOST, SECONDS = 300, 10.0  # frames in so many seconds: someone who drags for all of them sends 200
PIECE = 4096  # bytes that are read at a time, so that there is an end between two of them


class FewFrames(WebSocketsSansIOProtocol):
    """A websocket whose connection ends with the first frame too many."""

    most = MOST
    _since, _count = 0.0, 0

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + PIECE])

    def _is_too_many(self) -> bool:
        """Whether this frame is one too many; then the connection has ended."""
        now = self.loop.time()
        if now - self._since > SECONDS:
            self._since, self._count = now, 0
        self._count += 1
        if self._count > self.most:
            self.transport.abort()
        return self._count > self.most

    def handle_ping(self) -> None:
        """A ping, which is answered."""
        if not self._is_too_many():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """An answer to a ping."""
        if not self._is_too_many():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """A later part of a message."""
        if not self._is_too_many():
            super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        """Text."""
        if not self._is_too_many():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """A message, or its first part."""
        if not self._is_too_many():
            super().handle_bytes(event)
