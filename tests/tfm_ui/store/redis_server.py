"""A Redis server for tests: on a free port of this machine, and without files."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis
from redis.exceptions import ConnectionError as Disconnected

START = 10.0  # seconds


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def redis_server(port: int = 0) -> Iterator[str]:
    """Its address, as long as it runs.

    Args:
        port: of 127.0.0.1; a free one by default.
    """
    program = shutil.which("redis-server")
    assert program, "expected redis-server on this machine: Debian's package redis-server; run.py installs it with apt"
    port = port or free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        _wait(server, port)
        yield f"redis://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START
    with Redis(port=port, retry=None) as client:
        while True:
            assert server.poll() is None, f"redis-server ended with code {server.poll()}"
            try:
                client.ping()
            except Disconnected:
                assert time.monotonic() < end, f"expected redis-server on port {port} within {START:.0f} s"
                time.sleep(0.02)
            else:
                return
