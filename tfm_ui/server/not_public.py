"""Hides an address of Streamlit's own that is for operators: its metrics, which name sessions and what they hold."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HIDDEN = "/_stcore/metrics"  # below any server.baseUrlPath; our own figures: tfm_ui/server/figures.py


class NotPublic:
    """Middleware: what is hidden is answered as if it were not there. Streamlit lets no route take its place."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compare the path as the router will: percent-encoded letters are decoded by now."""
        if scope["type"] == "http" and scope["path"].rstrip("/").endswith(HIDDEN):
            return await PlainTextResponse("Not Found", 404)(scope, receive, send)
        await self.app(scope, receive, send)
