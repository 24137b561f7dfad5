"""The routes that the server adds to Streamlit's."""

import socket

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.tfm_ui.loops import run
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.server import asgi


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
    assert lab.get("/assets/abc/pictures/paint.js").status_code == 404


def test_connections_send_at_once(monkeypatch):
    monkeypatch.setattr(asgi, "WORKERS", 0)  # each is a process; tests/hosted/test_pool.py has servers with some
    listening = socket.create_server(("127.0.0.1", 0))

    async def start():
        async with asgi.lifespan(None):
            return listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    with listening:
        assert run(start()) == 1
