"""Serves the index of the search: compressed, and fetched once, as its address has its version."""

import gzip
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfm_ui.search.index import Index
from tfm_ui.server.assets import FOR_EVER
from tfm_ui.streamlit_private.options import config

NOT_KEPT = "no-store"


def index_route(index: Callable[[], Index], base: str = "") -> Route:
    """The route `/search/<version>.json`, below Streamlit's `server.baseUrlPath`.

    A page of an older version of the app gets the index of this one, and does not keep it under the old address.

    Args:
        index: makes the index when it is first asked for.
        base: `server.baseUrlPath`; by default that of this server.
    """
    below = (base or config.get_option("server.baseUrlPath")).strip("/")
    packed: dict[str, bytes] = {}

    def answer(version: str, accepts: str) -> Response:
        now = index()
        headers = {
            "Cache-Control": FOR_EVER if version == now.version else NOT_KEPT,
            "Vary": "Accept-Encoding",
        }
        if "gzip" not in accepts:
            return Response(now.data, headers=headers, media_type="application/json")
        if now.version not in packed:
            packed[now.version] = gzip.compress(now.data, mtime=0)
        headers["Content-Encoding"] = "gzip"
        return Response(packed[now.version], headers=headers, media_type="application/json")

    async def serve(request: Request) -> Response:
        accepts = request.headers.get("Accept-Encoding", "")
        return await run_in_threadpool(answer, request.path_params["version"], accepts)

    return Route(f"/{below}".rstrip("/") + "/search/{version}.json", serve)
