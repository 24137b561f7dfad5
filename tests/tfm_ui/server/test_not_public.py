"""Streamlit's own metrics are hidden from visitors, wherever the app is."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfm_ui.server import asgi
from tfm_ui.server.not_public import HIDDEN


def client(base: str) -> TestClient:
    told = [Route(f"{base}/{path}", lambda _: PlainTextResponse("told")) for path in (HIDDEN[1:], "_stcore/health")]
    return TestClient(Starlette(routes=told, middleware=asgi.MIDDLEWARE))


@pytest.mark.parametrize("base", ["", "/lab", "/a/lab"])
@pytest.mark.parametrize(
    "path", [HIDDEN, f"{HIDDEN}/", "/_stcore/metric%73", f"{HIDDEN}?a=b", f"{HIDDEN}%0A", f"{HIDDEN}%0a/"]
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "HEAD"])
def test_its_address_is_answered_as_if_it_were_not_there(base, path, method):
    answer = client(base).request(method, f"{base}{path}")
    assert answer.status_code == 404
    assert "told" not in answer.text
    assert client(base).get(f"{base}/_stcore/health").text == "told"
