"""Refuses websockets and requests that a page of another site sends: a check of Host and Origin."""

import logging
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private.options import is_own_host, is_set, set_option

ALLOWED, ADDRESS = "server.allowedHosts", "browser.serverAddress"
LOCAL = ["localhost", "*.localhost", "127.0.0.1", "::1"]

_log = logging.getLogger(__name__)


def allow_local_names(preset: str = SETTINGS.preset) -> None:
    """Let a server that only this machine can reach answer to local names alone, unless its setting says otherwise.

    A page of another site could give its own name this machine's address later (DNS rebinding), and would then count
    as a page of this server. A hosted server at a local address has a proxy before it, which hands on other names.
    """
    if preset == "local" and _is_loopback(st.get_option("server.address")) and not is_set(ALLOWED):
        set_option(ALLOWED, LOCAL)


def _is_loopback(address: str | None) -> bool:
    try:
        return address == "localhost" or ip_address(address or "").is_loopback
    except ValueError:
        return False


def is_same_origin(connection: HTTPConnection) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    Streamlit's settings decide: server.allowedHosts, server.corsAllowedOrigins, server.enableCORS and
    browser.serverAddress. Unlike Streamlit, this check never looks up the machine's public address over the network.
    """
    host, origin = connection.headers.get("host"), connection.headers.get("origin")
    if not is_own_host(host):
        return False
    if origin is None or not st.get_option("server.enableCORS") or origin in _allowed_origins():
        return True
    try:
        page = urlsplit(origin)
        name = page.hostname
    except ValueError:
        return False
    if page.netloc == host:
        return True
    return is_set(ADDRESS) and name == st.get_option(ADDRESS)


def _allowed_origins() -> set[str]:
    return {origin.strip() for origin in st.get_option("server.corsAllowedOrigins")}


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
