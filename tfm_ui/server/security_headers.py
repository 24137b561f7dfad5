"""The security headers of every answer: what a page of this app may load, and who may embed it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.visitors.settings import SETTINGS

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
