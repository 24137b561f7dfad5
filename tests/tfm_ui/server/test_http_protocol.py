"""The head of a request is bounded, in bytes and in seconds: a real uvicorn, with an app that says what it got."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from tests.tfm_ui.loops import run
from tfm_ui.server import http_protocol
from tfm_ui.server.http_protocol import LARGEST_HEAD, LARGEST_MESSAGE, BoundedHeads
from tfm_ui.server.websocket_protocol import FewFrames

REQUEST = b"GET / HTTP/1.1\r\nHost: lab\r\n\r\n"
LENGTH = 0  # bytes by which an answer is longer


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    body = b""
    while (message := await receive()).get("more_body"):
        body += message["body"]
    body += message.get("body", b"")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d bytes" % len(body) + b" " * LENGTH})


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """A server; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, http=BoundedHeads, ws="websockets-sansio", lifespan="off", log_config=None, timeout_keep_alive=60
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve([listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def answer(talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]) -> bytes:
    """What a client reads that talks to the server like this."""

    async def talked() -> bytes:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await asyncio.wait_for(talk(reader, writer), 30)
            finally:
                writer.close()

    result: bytes = run(talked())
    return result


def until_closed(sent: bytes) -> bytes:
    """All that the server says to these bytes; it has closed the connection then."""

    async def talk(reader, writer):
        writer.write(sent)
        return await reader.read()

    return answer(talk)


def head(size: int) -> bytes:
    """A request whose head has this many bytes."""
    rest = b"GET / HTTP/1.1\r\nHost: lab\r\nConnection: close\r\nX: %s\r\n\r\n"
    return rest % (b"x" * (size - len(rest) + 2))


@pytest.mark.parametrize("each", [1_000, 30_000])
@pytest.mark.parametrize(("size", "status"), [(LARGEST_HEAD, b"200"), (2 * LARGEST_HEAD, b"431")])
def test_a_head_is_at_most_so_large(size, status, each):
    async def talk(reader, writer):
        request = head(size)
        return await told(reader, writer, [request[start : start + each] for start in range(0, size, each)])

    assert answer(talk).split()[1] == status


async def told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parts: list[bytes]) -> bytes:
    """What the server says to these parts of a request; whoever is refused sends no more."""
    says = asyncio.ensure_future(reader.read())
    for part in parts:
        writer.write(part)
        if await asyncio.wait({says}, timeout=0.01) and says.done():
            break
    return await says


def test_many_small_headers_are_one_head():
    async def talk(reader, writer):
        lines = [b"x%d: %s\r\n" % (number, b"y" * 1000) for number in range(200)]
        return await told(reader, writer, [b"GET / HTTP/1.1\r\n", *lines])

    assert answer(talk).split()[1] == b"431"


@pytest.mark.parametrize(("count", "answered"), [(10, 10), (5_000, 0)])
def test_requests_that_do_not_wait_for_answers_are_few(count, answered, monkeypatch):
    """Thousands fit into what is read at a time, and cost the server far more than their sender."""
    begun = []
    begins = BoundedHeads.on_message_begin
    monkeypatch.setattr(BoundedHeads, "on_message_begin", lambda self: begun.append(begins(self)))

    async def talk(reader, writer):
        writer.write(REQUEST * count)
        said = b""
        with suppress(ConnectionError):
            while said.count(b"200 OK") < 10 and (part := await reader.read(1000)):
                said += part
        return said

    assert answer(talk).count(b"200 OK") == answered
    assert len(begun) < 300


CHUNKED = b"POST / HTTP/1.1\r\nHost: lab\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("line", [b"x: " + b"y" * 500 + b"\r\n", b"y" * 503])
def test_trailers_and_what_stands_beside_chunks_count_as_well(line):
    async def talk(reader, writer):
        return await told(reader, writer, [CHUNKED + b"0\r\nx: ", *[line * 10 for _ in range(40)]])

    assert answer(talk).split()[1:2] in ([], [b"431"]), "closed at once, or told why"


def test_trailers_are_dropped_and_the_body_is_read():
    async def talk(reader, writer):
        writer.write(CHUNKED + b"5\r\nhello\r\n0\r\nx: y\r\n\r\n")
        return await asyncio.wait_for(reader.readuntil(b"bytes"), 30)

    assert answer(talk).endswith(b"5 bytes")


def test_a_body_that_does_not_come_although_it_was_answered_ends_the_connection(monkeypatch):
    monkeypatch.setattr(BoundedHeads, "slowest_request", 0.2)
    assert until_closed(b"POST / HTTP/1.1\r\nHost: lab\r\nContent-Length: 1000\r\n\r\nx") == b""


def test_empty_lines_keep_no_connection(monkeypatch):
    monkeypatch.setattr(BoundedHeads, "slowest", 0.2)

    async def talk(reader, writer):
        writer.write(REQUEST)
        await reader.readuntil(b"bytes")
        writer.write(b"\r\n")
        return await reader.read()

    answer(talk)


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", REQUEST[:-2]])
def test_a_head_that_does_not_come_is_not_waited_for(sent, monkeypatch):
    monkeypatch.setattr(BoundedHeads, "slowest", 0.2)
    assert until_closed(sent) == b""
    if sent:  # else it is no later request
        assert until_closed(REQUEST + sent).count(b"HTTP/1.1 200") == 1


def test_bodies_and_answers_may_take_longer(monkeypatch):
    monkeypatch.setattr(BoundedHeads, "slowest", 0.2)

    async def talk(reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: lab\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n")
        for _ in range(3):
            await asyncio.sleep(0.2)
            writer.write(b"x" * 100_000)
        return await reader.read()

    assert b"300000 bytes" in answer(talk)


def test_a_websocket_message_is_bounded():
    """Its client is told that the message is too big, by the code of RFC 6455."""

    async def talked() -> int:
        async with served() as port, connect(f"ws://127.0.0.1:{port}") as websocket:
            await websocket.send(b"x" * (LARGEST_MESSAGE + 1))
            with pytest.raises(ConnectionClosed) as closed:
                await websocket.recv()
            return closed.value.rcvd.code if closed.value.rcvd else 0

    assert run(talked()) == 1009


@pytest.mark.parametrize("flood", ["pings", "pongs", "pieces", "messages"])
def test_a_flood_of_small_frames_ends_its_websocket(flood, monkeypatch):
    monkeypatch.setattr(FewFrames, "most", 50)

    async def talked() -> None:
        async with served() as port, connect(f"ws://127.0.0.1:{port}") as websocket:
            begun = {"pieces": Opcode.BINARY}.get(flood)
            frames = {"pings": Opcode.PING, "pongs": Opcode.PONG, "pieces": Opcode.CONT, "messages": Opcode.BINARY}
            parts = [Frame(begun, b"", fin=False)] if begun else []
            parts += [Frame(frames[flood], b"", fin=flood != "pieces") for _ in range(10_000)]
            websocket.transport.write(b"".join(part.serialize(mask=True) for part in parts))
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(websocket.recv(), 30)  # it is sent nothing

    run(talked())


def test_as_many_frames_as_a_browser_sends_are_taken(monkeypatch):
    monkeypatch.setattr(FewFrames, "most", 50)

    async def talked() -> None:
        async with served() as port, connect(f"ws://127.0.0.1:{port}") as websocket:
            for _ in range(40):
                await (await websocket.ping())

    run(talked())


def test_uvicorn_takes_it_although_it_has_chosen_another(monkeypatch):
    config = uvicorn.Config(app)
    config.load()
    assert config.http_protocol_class is not BoundedHeads
    monkeypatch.setattr(uvicorn.Config, "http_protocol_class", None, raising=False)  # taken back after the test
    http_protocol.bound_heads()
    assert config.http_protocol_class is BoundedHeads
    later = uvicorn.Config(app)
    later.load()
    assert later.http_protocol_class is BoundedHeads


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system has no such limit")
def test_an_answer_that_nobody_reads_keeps_no_connection(monkeypatch):
    """Else its bytes would be kept as long as the client likes, and its connection be one less for others."""
    monkeypatch.setattr(BoundedHeads, "slowest_reader", 1.0)
    monkeypatch.setattr("tests.tfm_ui.server.test_http_protocol.LENGTH", 20_000_000)
    lost = asyncio.Event()
    loses = BoundedHeads.connection_lost
    monkeypatch.setattr(BoundedHeads, "connection_lost", lambda self, exc: (loses(self, exc), lost.set()))

    async def talk(reader, writer):
        writer.transport.pause_reading()
        writer.write(REQUEST)
        await asyncio.wait_for(lost.wait(), 15)
        return b"lost"

    assert answer(talk) == b"lost"
