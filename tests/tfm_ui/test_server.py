"""What the server does beside Streamlit's own."""

import asyncio
import socket
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tfm_ui import server
from tfm_ui.pictures import PICTURES, made

client = TestClient(Starlette(routes=server.ROUTES))


def apart(data: bytes, number: int) -> list[bytes]:
    found = []
    for _ in range(number):
        length = int.from_bytes(data[:4], "little")
        found.append(data[4 : 4 + length])
        data = data[4 + length :]
    assert data == b""
    return found


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(server, "DRAWING", 0)


def test_pictures_are_answered_together():
    query = "seed=3&heads_head=2"
    answer = client.post("/pictures/heads+head", content=query)
    assert apart(answer.content, 2) == [made("heads", query), made("head", query)]
    assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("name", "query", "status", "words"),
    [
        ("nonsense", "", 404, "expected one of heads, head"),
        ("heads+nonsense", "", 404, "expected one of heads, head"),
        ("heads", "text=", 422, "has no tokens"),
        ("heads", "text=" + "x" * 300_000, 413, "at most 250000 bytes"),
    ],
)
def test_what_cannot_be_shown_is_said(name, query, status, words):
    answer = client.post(f"/pictures/{name}", content=query)
    assert answer.status_code == status
    assert words in answer.text


def test_garbage_is_a_picture_too():
    assert client.post("/pictures/heads", content=b"seed=\xff&num_heads=-3&&&=").status_code == 200


def test_scripts_come_from_assets_under_any_version():
    for script in ("paint.js", "follow.js", *(f"{picture.canvas.name}.js" for picture in PICTURES.values())):
        answer = client.get(f"/assets/abc/{script}")
        assert answer.status_code == 200
        assert "javascript" in answer.headers["content-type"]
    assert client.get("/assets/abc/../../app.py").status_code == 404


def run(coroutine: Coroutine) -> Any:
    """In a thread of its own: the browser tests leave a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def websocket(cookie: bytes) -> dict:
    return {"type": "websocket", "headers": [(b"cookie", cookie)], "client": ("127.0.0.1", 1)}


@pytest.mark.parametrize(("cookie", "waits"), [(b"mine", True), (b"another's", False)])
def test_a_browsers_websocket_waits_for_its_own_pictures(cookie, waits, monkeypatch):
    monkeypatch.setattr(server, "_on_their_way", server.Counter({server._browser(websocket(b"mine")): 1}))
    heard, naps = [], []

    async def app(scope, receive, send):
        heard.append(await receive())

    async def receive():
        return {"type": "websocket.receive"}

    async def nap(_):
        naps.append(1)
        server._on_their_way.clear()  # it has been drawn

    monkeypatch.setattr(server.asyncio, "sleep", nap)
    run(server.PicturesFirst(app)(websocket(cookie), receive, None))
    assert heard == [{"type": "websocket.receive"}]
    assert bool(naps) is waits


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(server, "_on_their_way", server.Counter({server._browser(websocket(b"mine")): 1}))
    monkeypatch.setattr(server, "PATIENCE", 0)
    heard = []

    async def app(scope, receive, send):
        heard.append(await receive())

    async def receive():
        return {"type": "websocket.receive"}

    run(server.PicturesFirst(app)(websocket(b"mine"), receive, None))
    assert heard


def test_after_the_answer_nothing_is_on_its_way():
    client.post("/pictures/heads", content="")
    client.post("/pictures/heads", content="text=")
    assert not server._on_their_way


def test_connections_send_at_once():
    listening = socket.create_server(("127.0.0.1", 0))

    async def start():
        async with server.lifespan(None):
            return listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    with listening:
        assert run(start()) == 1
