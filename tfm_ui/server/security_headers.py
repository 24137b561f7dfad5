"""The security headers of every answer: what a page of this app may load, and who may embed it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.settings import SETTINGS

# The page may load nothing from other servers and send nothing to them. 'unsafe-inline', 'unsafe-eval' and blob: are
# needed by Streamlit: it has inline scripts and styles, loads components' scripts from blobs, and compiles code for
# tables and maps.
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
    "Referrer-Policy": "same-origin",  # a link may contain the visitor's text
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# Older browsers do not know frame-ancestors; their header can express only these two values.
if SETTINGS.embed in ("'self'", "'none'"):
    HEADERS["X-Frame-Options"] = "SAMEORIGIN" if SETTINGS.embed == "'self'" else "DENY"


class SecurityHeaders:
    """Middleware that adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Headers that an answer already has stay as they are."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers)
