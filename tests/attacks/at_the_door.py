"""What strangers send before and beside requests: a hosted server keeps little of it, and answers others meanwhile."""

import http.client
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from benchmarks.streamlit_private.protocol import STREAM, asking
from tests.attacks.strangers import Server
from tests.hosted.waiting import until
from tests.tfm_ui.cookies import cookie

PROXY, STRANGER = "127.0.0.1", "127.0.0.2"  # both are this machine
SETTINGS = {"FORWARDED_ALLOW_IPS": PROXY, "ATTENTION_LAB_TABS_PER_ADDRESS": "40"}
LIVE = b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MEGABYTE = 10**6


def grown(server: Server, by: Callable[[], None]) -> int:
    """The bytes by which the server's memory is larger after this, at its peak."""
    server.forget_peaks()
    before = server.memory["now"]
    by()
    return server.memory["most"] - before


def opened(server: Server, *, visitor: str = "") -> ClientConnection:
    return connect(f"ws://{server.place}{STREAM}", additional_headers={"Cookie": cookie(visitor or "v")})


def huge_heads_are_not_kept(server: Server) -> None:
    """One header of 60 MB, and many small ones."""

    def send() -> None:
        for part in (b"X: " + b"x" * 60 * MEGABYTE, b"X: %s\r\n" % (b"y" * 900) * 20_000):
            with suppress(ConnectionError), socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
                client.sendall(LIVE + part)
                assert b"431" in client.recv(100)
            server.quiet_visitor()

    assert grown(server, send) < 30 * MEGABYTE


def unknown_widgets_are_not_kept(server: Server) -> None:
    def send() -> None:
        for number in range(8):
            with opened(server, visitor=f"v{number}") as tab, suppress(ConnectionClosed):
                tab.send(asking("heads", texts={"nobody": "x" * 20 * MEGABYTE}))
                tab.recv()

    assert grown(server, send) < 60 * MEGABYTE
    server.quiet_visitor()


@contextmanager
def silent_connections_are_closed(server: Server) -> Iterator[None]:
    """They come at the beginning of the block, and are closed at its end, or within 30 seconds."""
    with ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(50)]
        for number, client in enumerate(silent):
            client.sendall(LIVE[: number % 20])
        yield
        assert {client.recv(100) for client in silent} == {b""}, "closed without an answer"


@contextmanager
def who_opens_tabs_and_asks_for_no_page_keeps_nobody_out(server: Server) -> Iterator[None]:
    """Nobody else at this address gets in within the block, and the others do; after it, everybody does."""
    idle: list[ClientConnection] = []
    with ExitStack() as stack:

        def fill() -> None:
            while True:
                idle.append(stack.enter_context(opened(server, visitor=secrets.token_hex(4))))

        def is_let_in() -> bool:
            with suppress(ConnectionClosed, InvalidStatus), opened(server) as tab:
                tab.send(asking("heads"))
                return bool(tab.recv(timeout=60))
            return False

        with pytest.raises(InvalidStatus):  # the address is full
            fill()
        a_proxy_is_believed_if_the_setting_names_its_address_and_nobody_else_is(server)
        yield
        until(is_let_in, pause=0.5)
        for tab in idle:
            with suppress(ConnectionClosed):
                tab.recv(timeout=60)
                raise AssertionError("expected a closed websocket")


def a_proxy_is_believed_if_the_setting_names_its_address_and_nobody_else_is(server: Server) -> None:
    """The address of this machine, which both have themselves, is full, and that of the visitor is not."""
    full = f"Your network address has {SETTINGS['ATTENTION_LAB_TABS_PER_ADDRESS']} open tabs"
    for address, expected in ((PROXY, 200), (STRANGER, 503)):
        connection = http.client.HTTPConnection(server.place, timeout=60, source_address=(address, 0))
        visitor = {"X-Forwarded-For": "198.51.100.2", "Cookie": cookie("b"), "Sec-Fetch-Dest": "document"}
        connection.request("GET", "/heads", headers=visitor)
        answer = connection.getresponse()
        assert answer.status == expected
        assert (full in answer.read().decode().replace("\n", " ")) == (expected == 503)
        connection.close()
