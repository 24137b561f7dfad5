"""Every answer of the server has the security headers."""

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfm_ui.server import asgi

routes = [*asgi.ROUTES, Route("/any", lambda _: PlainTextResponse("text"))]
client = TestClient(Starlette(routes=routes, middleware=asgi.MIDDLEWARE), base_url="http://lab.test")


def test_browsers_are_told_what_a_page_may_do():
    for answer in (client.get("/any"), client.get("/nothing"), client.post("/pictures/home_next", content="text=")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
        assert "default-src 'self'" in answer.headers["content-security-policy"]
