"""What strangers send before and beside requests: a hosted server keeps little of it, and answers others meanwhile."""

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from benchmarks.live.serve import running_server
from benchmarks.streamlit_private.protocol import STREAM, asking
from tests.attacks.strangers import Server
from tests.tfm_ui.cookies import cookie

HOSTED = {"ATTENTION_LAB_PRESET": "hosted", "ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_TABS_PER_ADDRESS": "20"}
LIVE = b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MEGABYTE = 10**6


def grown(server: Server, by: Callable[[], None]) -> int:
    """The bytes by which the server's memory is larger after this, at its peak."""
    before = server.memory["now"]
    by()
    return server.memory["most"] - before


def opened(server: Server, *, visitor: str = "") -> ClientConnection:
    return connect(f"ws://127.0.0.1:{server.port}{STREAM}", additional_headers={"Cookie": cookie(visitor or "v")})


def huge_heads_are_not_kept(server: Server) -> None:
    """One header of 60 MB, and many small ones."""

    def send() -> None:
        for part in (b"X: " + b"x" * 60 * MEGABYTE, b"X: %s\r\n" % (b"y" * 900) * 20_000):
            with suppress(ConnectionError), socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
                client.sendall(LIVE + part)
                assert b"431" in client.recv(100)
            server.quiet_visitor()

    assert grown(server, send) < 30 * MEGABYTE


def silent_connections_are_closed(server: Server) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(50)]
        for number, client in enumerate(silent):
            client.sendall(LIVE[: number % 20])
        server.quiet_visitor()
        assert {client.recv(100) for client in silent} == {b""}, "closed without an answer, within 30 seconds"


def unknown_widgets_are_not_kept(server: Server) -> None:
    def send() -> None:
        for number in range(8):
            with opened(server, visitor=f"v{number}") as tab, suppress(ConnectionClosed):
                tab.send(asking("heads", texts={"nobody": "x" * 20 * MEGABYTE}))
                tab.recv()

    assert grown(server, send) < 60 * MEGABYTE
    server.quiet_visitor()


def who_opens_tabs_and_asks_for_no_page_keeps_nobody_out(server: Server) -> None:
    idle: list[ClientConnection] = []
    with ExitStack() as stack:

        def fill() -> None:
            while True:
                idle.append(stack.enter_context(opened(server, visitor=secrets.token_hex(4))))

        with pytest.raises(InvalidStatus):  # the address is full
            fill()
        give_up = time.monotonic() + 60
        while True:
            with suppress(ConnectionClosed, InvalidStatus), opened(server) as tab:
                tab.send(asking("heads"))
                if tab.recv(timeout=60):
                    break
            assert time.monotonic() < give_up
            time.sleep(0.5)
        for tab in idle:
            with suppress(ConnectionClosed):
                tab.recv(timeout=60)
                raise AssertionError("expected a closed websocket")


def test_what_comes_before_and_beside_requests_takes_little_and_keeps_nobody_out():
    with running_server(settings=HOSTED) as (address, pid):
        server = Server(int(address.rpartition(":")[2]), pid)
        with server.tabs("heads", [{}]) as tabs:
            assert tabs.wait() == 1
        server.quiet_visitor()
        huge_heads_are_not_kept(server)
        silent_connections_are_closed(server)
        unknown_widgets_are_not_kept(server)
        who_opens_tabs_and_asks_for_no_page_keeps_nobody_out(server)
