"""What the server adds to Streamlit's: routes, and parts around the app."""

import socket
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from tests.tfm_ui.loops import run
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.server import asgi
from tfm_ui.server.part import part


def test_scripts_come_from_assets_under_any_version():
    client = TestClient(Starlette(routes=asgi.ROUTES))
    for script in (
        "pictures/paint.js",
        "pictures/follow.js",
        *(f"{picture.canvas.path}.js" for picture in PICTURES.values()),
    ):
        answer = client.get(f"/assets/abc/{script}")
        assert answer.status_code == 200
        assert "javascript" in answer.headers["content-type"]
    assert client.get("/assets/abc/../../app.py").status_code == 404


@pytest.mark.parametrize("base", ["lab", "/lab", "lab/", "/a/lab/"])
def test_below_a_path_of_a_server_all_of_it_is_below(base):
    lab, path = TestClient(Starlette(routes=asgi.routes(base))), f"/{base.strip('/')}"
    assert lab.get(f"{path}/assets/abc/pictures/paint.js").status_code == 200
    assert lab.post(f"{path}/pictures/heads", content="").status_code == 200
    assert [lab.get(f"{path}/{name}").status_code for name in ("live", "ready", "status")] == [200, 200, 403]
    assert lab.get("/assets/abc/pictures/paint.js").status_code == 404


def test_connections_send_at_once(monkeypatch):
    monkeypatch.setattr(asgi, "WORKERS", 0)  # each is a process; tests/hosted/test_pool.py has servers with some
    listening = socket.create_server(("127.0.0.1", 0))

    async def start():
        async with asgi.lifespan(None):
            return listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    with listening:
        assert run(start()) == 1


class Notes:
    """A part that notes which kinds of connections it is asked for."""

    def __init__(self, app, asked):
        self.app, self.asked = app, asked

    async def __call__(self, scope, receive, send):
        self.asked.append(scope["type"])
        await self.app(scope, receive, send)


async def greet(websocket):
    await websocket.accept()
    await websocket.send_text("hello")
    await websocket.close()


@pytest.mark.parametrize("kinds", [["http"], ["websocket"], ["http", "websocket"]])
def test_a_part_is_asked_for_its_kinds_of_connections_alone_and_all_others_pass(kinds):
    @asynccontextmanager
    async def lifespan(_):
        started.append(True)
        yield

    started, asked = [], []
    routes = [Route("/", lambda _: PlainTextResponse("hello")), WebSocketRoute("/", greet)]
    app = Starlette(routes=routes, middleware=[part(Notes, *kinds, asked=asked)], lifespan=lifespan)
    with TestClient(app) as client:
        assert started
        assert client.get("/").text == "hello"
        with client.websocket_connect("/") as socket:
            assert socket.receive_text() == "hello"
    assert asked == kinds
