"""Pages of this server get pictures and websockets; pages of other sites get neither."""

import pytest
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit import config

from tfm_ui.server import asgi, same_origin


async def echo(websocket):
    await websocket.accept()
    await websocket.send_text("hello")
    await websocket.close()


routes = [*asgi.ROUTES, WebSocketRoute("/stream", echo)]
client = TestClient(Starlette(routes=routes, middleware=asgi.MIDDLEWARE), base_url="http://lab.test")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://lab.test", 200),
        ("https://lab.test", 200),  # behind a proxy that ends the encryption
        ("http://evil.test", 403),
        ("http://lab.test.evil.test", 403),
        ("http://lab.test:81", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_only_pages_of_this_server_get_pictures_and_websockets(origin, status):
    headers = {"origin": origin} if origin else {}
    assert client.post("/pictures/home_next", content="", headers=headers).status_code == status
    if status == 200:
        with client.websocket_connect("ws://lab.test/stream", headers=headers) as socket:
            assert socket.receive_text() == "hello"
    else:
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("ws://lab.test/stream", headers=headers):
            pass


def connection(host: str, origin: str) -> HTTPConnection:
    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    return HTTPConnection({"type": "http", "headers": headers})


@pytest.fixture
def option(monkeypatch):
    """Set Streamlit's options for one test."""
    given = {}
    real = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: given.get(name, real(name)))
    monkeypatch.setattr(config, "is_manually_set", lambda name: name in given)
    return given


def test_streamlits_own_settings_tell_who_else_may(option):
    asked = connection("inner:8501", "https://lab.school.test")
    assert not same_origin.is_same_origin(asked)
    option["browser.serverAddress"] = "lab.school.test"
    assert same_origin.is_same_origin(asked)
    del option["browser.serverAddress"]
    option["server.corsAllowedOrigins"] = ["https://lab.school.test"]
    assert same_origin.is_same_origin(asked)
    option["server.allowedHosts"] = ["lab.school.test"]
    assert not same_origin.is_same_origin(asked), "the host is another"
