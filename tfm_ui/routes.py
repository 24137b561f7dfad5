"""What the server answers beside Streamlit's own: the scripts of assets/, and the pictures' bytes."""

import gzip

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from tfm_ui.components.canvas import ASSETS
from tfm_ui.pictures import PICTURES, made

LONGEST = 250_000  # bytes of a query: every sign of the longest text, percent-encoded


async def picture(request: Request) -> Response:
    """The bytes of one picture, for the link's query in the body."""
    name, query = request.path_params["name"], b""
    if name not in PICTURES:
        return Response(f"expected one of {', '.join(PICTURES)}", 404, media_type="text/plain")
    async for part in request.stream():
        query += part
        if len(query) > LONGEST:
            return Response(f"expected at most {LONGEST} bytes", 413, media_type="text/plain")
    try:
        data = await run_in_threadpool(_packed, name, query.decode("utf-8", "replace"))
    except ValueError as error:
        return Response(str(error), 422, media_type="text/plain")
    return Response(data, media_type="application/octet-stream", headers={"Content-Encoding": "gzip"})


def _packed(name: str, query: str) -> bytes:
    return gzip.compress(made(name, query), compresslevel=1)  # half of what is sent, for a millisecond


def routes() -> list[BaseRoute]:
    """For the app. The version in a script's address is for the browser alone: another version, another address."""
    return [
        Mount("/assets/{version}", StaticFiles(directory=ASSETS)),
        Route("/pictures/{name}", picture, methods=["POST"]),
    ]
