"""Limits on what a connection sends besides bodies: how large it is, and how long it takes.

Uvicorn with httptools has neither limit: a head of 200 MB would be kept, so would trailers after a body, and a
connection on which nothing comes would stay open for ever. A reverse proxy in front of the app has limits of its own.
"""

import asyncio
import socket
import sys
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tfm_ui.server.websocket_protocol import FewFrames

LARGEST_HEAD = 65_536  # bytes of the request's line and all its headers
SLOWEST_HEAD = 10.0  # seconds from the connection, or from the first byte of a later request
SLOWEST_REQUEST = 70.0  # seconds from the head to the request's last byte: longer than any body may take
SLOWEST_READER = 70.0  # seconds in which a client must take something of what it is sent, where the system can tell
MOST_WAITING = 16  # requests on a connection that do not wait for the answers before them: browsers send none
PIECE = 4096  # bytes that are read at a time, so that there is an end between two of them
LARGEST_MESSAGE = 1_000_000  # bytes of a websocket's message: the longest texts of all controls, percent-encoded
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n"
    b"expected at most %d bytes of headers" % LARGEST_HEAD
)


class BoundedHeads(HttpToolsProtocol):
    """A connection whose requests have bounded heads, and its websocket, if it becomes one, bounded messages."""

    largest, slowest, slowest_request = LARGEST_HEAD, SLOWEST_HEAD, SLOWEST_REQUEST
    slowest_reader = SLOWEST_READER

    def connection_made(self, transport: Any) -> None:
        """The first request is expected."""
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        # Linux then ends a connection whose client takes nothing, whatever becomes of it: an answer, or a websocket.
        if sys.platform == "linux" and connected and connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * self.slowest_reader))
        self.config.ws_max_size = min(self.config.ws_max_size, LARGEST_MESSAGE)
        if self.ws_protocol_class is WebSocketsSansIOProtocol:  # what Streamlit asks for
            self.ws_protocol_class = FewFrames
        self._head: asyncio.TimerHandle | None = None  # ends a connection whose head does not come
        self._rest: asyncio.TimerHandle | None = None  # ends one whose request does not come to its end
        self._read = 0  # bytes of the request so far that are not its body
        self._body = 0  # bytes of bodies
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
        self._rest = self.loop.call_later(self.slowest_request, self.transport.close)
        super().on_headers_complete()
        if len(self.pipeline) > MOST_WAITING:
            self.transport.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has come, or a trailer after a body in chunks, which nobody reads."""
        if not self._rest:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """A part of a body has come."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has come to its end."""
        self._end_of_request()
        super().on_message_complete()

    def _end_of_request(self) -> None:
        if self._rest:
            self._rest.cancel()
        self._rest = None

    def handle_websocket_upgrade(self) -> None:
        """The connection becomes a websocket, whose protocol has limits of its own."""
        self.on_head_end()
        self._end_of_request()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Bytes have come. What a head has too much is not kept."""
        for start in range(0, len(data), PIECE):
            self._take(data[start : start + PIECE])
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return

    def _take(self, data: bytes) -> None:
        body = self._body
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if not (self._head or self._rest) and (not self.cycle or self.cycle.response_complete):
            self.on_head_begin()  # an empty line between requests: uvicorn no longer waits for the next one
        self._read += len(data) - (self._body - body)
        if self._read > self.largest:
            if self.cycle and not self.cycle.response_complete:  # an earlier request is being answered
                self.transport.abort()
                return
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self.on_head_end()
        self._end_of_request()
        super().connection_lost(exc)


def bound_heads() -> None:
    """Let uvicorn use this protocol.

    Streamlit starts uvicorn without a setting for that, and when the app is imported, uvicorn's configuration has
    chosen its protocol already. It reads its choice anew for each connection: from the class, once it is a property.
    """
    choice = property(lambda config: BoundedHeads, lambda config, chosen: None)
    setattr(Config, "http_protocol_class", choice)  # noqa: B010  # mypy knows it as an attribute of instances
