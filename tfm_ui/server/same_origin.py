"""Refuses websockets and requests that a page of another site sends: a check of Host and Origin."""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.server_util import allow_all_cross_origin_requests, is_allowed_origin
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed


def is_own_host(host: str | None) -> bool:
    """Whether this is a name of this server, by Streamlit's setting server.allowedHosts."""
    return bool(is_host_allowed(host))


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    Streamlit's settings decide: server.allowedHosts, server.corsAllowedOrigins, server.enableCORS and
    browser.serverAddress. Unlike Streamlit, this check never looks up the machine's public address over the network.
    """
    host, origin = connection.headers.get("host"), connection.headers.get("origin")
    if not is_own_host(host):
        return False
    if origin is None or allow_all_cross_origin_requests() or is_allowed_origin(origin):
        return True
    try:
        page = urlsplit(origin)
        name = page.hostname
    except ValueError:
        return False
    if page.netloc == host:
        return True
    return config.is_manually_set("browser.serverAddress") and name == config.get_option("browser.serverAddress")


class SameOriginOnly:
    """Middleware that refuses websockets opened by pages of other sites, before Streamlit sees them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check websockets only: the route for pictures calls `is_same_origin` itself."""
        if scope["type"] == "websocket" and not is_same_origin(HTTPConnection(scope)):
            await send({"type": "websocket.close", "code": 1008})
            return
        await self.app(scope, receive, send)
