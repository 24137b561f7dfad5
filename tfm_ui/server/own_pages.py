"""Only the app's own pages may ask, and browsers are told what a page of the app may do."""

from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.server_util import allow_all_cross_origin_requests, is_allowed_origin
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from tfm_ui.visitors.settings import SETTINGS


def from_own_page(connection: HTTPConnection) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    By Streamlit's own settings: server.allowedHosts, server.corsAllowedOrigins, server.enableCORS and
    browser.serverAddress. Unlike Streamlit, it asks nobody on the network for this machine's address.
    """
    host, origin = connection.headers.get("host"), connection.headers.get("origin")
    if not is_host_allowed(host):
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


class OwnPagesOnly:
    """Middleware: a websocket that a foreign page opens is refused, before Streamlit hears of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Routes ask `from_own_page` by themselves."""
        if scope["type"] == "websocket" and not from_own_page(HTTPConnection(scope)):
            await send({"type": "websocket.close", "code": 1008})
            return
        await self.app(scope, receive, send)


# Streamlit's page has inline scripts and styles, and runs components' scripts from blobs; its parser of tables and its
# map compile code. Nothing may come from, or be sent to, another server.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors {SETTINGS.embed}",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a link may hold a text
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# What browsers knew before frame-ancestors; it can say no more than these two.
if SETTINGS.embed in ("'self'", "'none'"):
    HEADERS["X-Frame-Options"] = "SAMEORIGIN" if SETTINGS.embed == "'self'" else "DENY"


class SecurityHeaders:
    """Middleware: these headers go out with every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Those that an answer has already stay as they are."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)
