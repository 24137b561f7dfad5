"""Limits on the head of a request, which is read before the app is asked: how large it is, and how long it takes.

Uvicorn with httptools has neither limit: a head of 200 MB would be kept, and a connection on which nothing comes would
stay open for ever. Behind a reverse proxy, the proxy has limits of its own.
"""

import asyncio

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 65_536  # bytes of the request's line and all its headers
SLOWEST_HEAD = 10.0  # seconds from the connection, or from the first byte of a later request
LARGEST_MESSAGE = 1_000_000  # bytes of a websocket's message: the longest texts of all controls, percent-encoded
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n"
    b"expected at most %d bytes of headers" % LARGEST_HEAD
)


class BoundedHeads(HttpToolsProtocol):
    """A connection whose requests have bounded heads, and its websocket, if it becomes one, bounded messages."""

    largest, slowest = LARGEST_HEAD, SLOWEST_HEAD

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """The first request is expected."""
        super().connection_made(transport)
        self.config.ws_max_size = min(self.config.ws_max_size, LARGEST_MESSAGE)
        self._head: asyncio.TimerHandle | None = None
        self._read = 0  # bytes of the head so far
        self.on_head_begin()

    def on_head_begin(self) -> None:
        """The head has to arrive from now on."""
        self.on_head_end()
        self._head = self.loop.call_later(self.slowest, self.transport.close)
        self._read = 0

    def on_head_end(self) -> None:
        """The head is there, or nobody waits for one."""
        if self._head:
            self._head.cancel()
        self._head = None

    def on_message_begin(self) -> None:
        """The first byte of a request has come: of the first one on a connection, or of a later one."""
        if not self._head:
            self.on_head_begin()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head of a request is there."""
        self.on_head_end()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Bytes have come. What a head has too much is not kept."""
        super().data_received(data)
        if not self._head or self.transport.is_closing():
            return
        self._read += len(data)
        if self._read > self.largest:
            if self.cycle and not self.cycle.response_complete:  # an earlier request is being answered
                self.transport.abort()
                return
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self.on_head_end()
        super().connection_lost(exc)


def bound_heads() -> None:
    """Let uvicorn use this protocol.

    Streamlit starts uvicorn without a setting for that, and when the app is imported, uvicorn's configuration has
    chosen its protocol already. It reads its choice anew for each connection: from the class, once it is a property.
    """
    choice = property(lambda config: BoundedHeads, lambda config, chosen: None)
    setattr(Config, "http_protocol_class", choice)  # noqa: B010  # mypy knows it as an attribute of instances
