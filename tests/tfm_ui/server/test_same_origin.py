"""Pages of this server get pictures and websockets; pages of other sites get neither."""

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tfm_ui.server import asgi, same_origin
from tfm_ui.streamlit_private import options


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
    real = st.get_option
    for place in (st, options.config):
        monkeypatch.setattr(place, "get_option", lambda name: given.get(name, real(name)))
    monkeypatch.setattr(options.config, "is_manually_set", lambda name: name in given)
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


@pytest.mark.parametrize(
    ("preset", "address", "manually", "allowed"),
    [
        ("local", "127.0.0.1", False, True),
        ("local", "localhost", False, True),
        ("local", "::1", False, True),
        ("local", "127.0.0.1", True, False),
        ("local", "0.0.0.0", False, False),
        ("local", None, False, False),
        ("hosted", "127.0.0.1", False, False),  # a proxy on the same machine hands on the name that visitors use
    ],
)
def test_a_server_that_only_this_machine_reaches_has_local_names_alone(
    option, monkeypatch, preset, address, manually, allowed
):
    option["server.address"] = address
    if manually:
        option[same_origin.ALLOWED] = ["lab.test"]
    monkeypatch.setattr(options.config, "set_option", option.__setitem__)
    same_origin.allow_local_names(preset)
    local = ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "lab.localhost")
    assert all(map(same_origin.is_own_host, local)) is not manually
    assert same_origin.is_own_host("rebound.evil.test") is not (allowed or manually)
    assert same_origin.is_own_host("lab.test") is not allowed


def test_why_a_page_is_refused_is_in_the_log(option, caplog):
    option[same_origin.ALLOWED] = same_origin.LOCAL
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("ws://lab.test/stream"):
        pass
    assert "server.allowedHosts" in caplog.text
