"""A part of the server that is added to Streamlit's app, registered for the kinds of connections that it serves."""

from typing import Any, Literal

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

Kind = Literal["http", "websocket"]  # the types of ASGI's scopes, but for the start and the end of the server


def part(serves: type, *kinds: Kind, **options: Any) -> Middleware:
    """Register a part: connections of other kinds, and the server's start and end, pass it by.

    Args:
        serves: the part's class: an ASGI app, made of the app that it hands on to.
        kinds: the kinds of connections that it serves.
        options: more arguments of the class.
    """
    return Middleware(_Part, serves=serves, kinds=kinds, options=options)


class _Part:
    def __init__(self, app: ASGIApp, serves: type, kinds: tuple[Kind, ...], options: dict[str, Any]) -> None:
        self._behind, self._part, self._kinds = app, serves(app, **options), kinds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._part if scope["type"] in self._kinds else self._behind
        await app(scope, receive, send)
