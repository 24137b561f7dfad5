"""Hides an address of Streamlit's own that is for operators: its metrics, which name sessions and what they hold."""

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tfm_ui.streamlit_private.addresses import METRICS

HIDDEN = METRICS  # below any server.baseUrlPath; our own figures: tfm_ui/server/figures.py
# A route's pattern ends with "$", which also matches before a line break at the end of a path.
IS_HIDDEN = re.compile(rf"{HIDDEN}[/\s]*\Z")


class NotPublic:
    """Middleware: what is hidden is answered as if it were not there. Streamlit lets no route take its place."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compare the path as the router will: percent-encoded letters are decoded by now."""
        if IS_HIDDEN.search(scope["path"]):
            return await PlainTextResponse("Not Found", 404)(scope, receive, send)
        await self.app(scope, receive, send)
