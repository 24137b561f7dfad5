"""The route that says how long a visitor still waits."""

from starlette.applications import Starlette
from starlette.testclient import TestClient

from tfm_ui.server import asgi
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane

client = TestClient(Starlette(routes=asgi.ROUTES, middleware=asgi.MIDDLEWARE), base_url="http://lab.test")


def test_it_tells_the_seconds_that_the_limiter_foretells_for_this_visitor(monkeypatch):
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    monkeypatch.setattr("tfm_ui.server.waiting.LIMITER", limiter)
    assert client.get("/waiting").json() == {"seconds": 0}
    for _ in range(40):
        limiter.ask("192.0.2.1 another", Lane.PAGES)
    assert client.get("/waiting").json() == {"seconds": 0}
    limiter.ask("", Lane.PAGES)
    answer = client.get("/waiting")
    assert answer.json()["seconds"] == round(limiter.expected(""), 1) >= 1
    assert answer.headers["cache-control"] == "no-store"
