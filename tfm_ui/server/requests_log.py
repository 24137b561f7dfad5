"""Gives each request an id, counts and times its answer; with JSON logs each request has a line."""

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfm_ui.server.logs import REQUEST, in_json
from tfm_ui.visitors import metrics

HEADER = "X-Request-ID"
PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")  # a proxy's id that is taken over
PROBES = "/live", "/ready"  # asked every few seconds: logged only if they fail

_log = logging.getLogger(__name__)


class RequestsLog:
    """Middleware. The id is in the answer's header X-Request-ID and in what is logged while the request is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        given = Headers(scope=scope).get(HEADER, "")
        request = given if PLAIN.fullmatch(given) else secrets.token_hex(8)
        status = 0  # no answer, as when the visitor has left

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request
            await send(message)

        token, begin = REQUEST.set(request), time.perf_counter()
        try:
            await self.app(scope, receive, with_id)
        finally:
            _note(scope, status, time.perf_counter() - begin)
            REQUEST.reset(token)


def template(scope: Scope) -> str:
    """The pattern of the route that has answered, such as "/pictures/{names}"; "" if none has.

    The path itself may contain what a visitor has written.
    """
    return str(getattr(scope.get("route"), "path", ""))


def _note(scope: Scope, status: int, seconds: float) -> None:
    route = template(scope)
    metrics.ANSWERS.labels(route, status).inc()
    if route.endswith("/pictures/{names}") and status == 200:
        metrics.PICTURES.observe(seconds)
    if in_json() and not (route.endswith(PROBES) and status == 200):
        fields = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        _log.info("%s %s %s", scope["method"], route, status, extra={"fields": fields})
