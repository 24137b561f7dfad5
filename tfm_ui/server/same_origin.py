"""Refuses websockets and requests that a page of another site sends: a check of Host and Origin."""

import logging
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.server_util import allow_all_cross_origin_requests, is_allowed_origin
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from tfm_ui.settings import SETTINGS

ALLOWED = "server.allowedHosts"
LOCAL = ["localhost", "*.localhost", "127.0.0.1", "::1"]

_log = logging.getLogger(__name__)


def allow_local_names(preset: str = SETTINGS.preset) -> None:
    """Let a server that only this machine can reach answer to local names alone, unless its setting says otherwise.

    A page of another site could give its own name this machine's address later (DNS rebinding), and would then count
    as a page of this server. A hosted server at a local address has a proxy before it, which hands on other names.
    """
    if preset == "local" and _is_loopback(config.get_option("server.address")) and not config.is_manually_set(ALLOWED):
        config.set_option(ALLOWED, LOCAL)


def _is_loopback(address: str | None) -> bool:
    try:
        return address == "localhost" or ip_address(address or "").is_loopback
    except ValueError:
        return False


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
        """Check a websocket: the route for pictures calls `is_same_origin` itself."""
        if not is_same_origin(connection := HTTPConnection(scope)):
            if not is_own_host(connection.headers.get("host")):
                _log.warning("A page was refused, as its address has a name that %s does not have.", ALLOWED)
            await send({"type": "websocket.close", "code": 1008})
            return
        await self.app(scope, receive, send)
