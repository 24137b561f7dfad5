"""A proxy in front of a server that can be told to hang, or to hand answers on one byte at a time."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Mode = Literal["quick", "hangs", "drips"]
DRIP = 0.05  # seconds between two bytes


class Proxy:
    """What the proxy does with answers. Requests are always handed on."""

    mode: Mode = "quick"

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = [self._listener]

    def serve(self) -> None:
        """Take connections until the proxy is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                self._open += [client, server]
                for source, target, answers in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pump, args=(source, target, answers), daemon=True).start()

    def close(self) -> None:
        """End all connections."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                if answers and self.mode == "hangs":
                    continue  # what comes later is not this answer
                if answers and self.mode == "drips":
                    for byte in data:
                        target.sendall(bytes([byte]))
                        time.sleep(DRIP)
                else:
                    target.sendall(data)


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    """A proxy, as long as the block runs."""
    proxy = Proxy(port)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.close()
