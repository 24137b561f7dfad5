"""Serves assets/: compressed, and fetched once, as the address of a file has a version."""

import gzip
from contextlib import suppress
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tfm_ui.folders import ASSETS

FOR_EVER = "public, max-age=31536000, immutable"
TYPES = {".js": "text/javascript", ".css": "text/css"}  # whatever the system's table says


@lru_cache(256)  # a few times as many as there are files
def _compressed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)


def _file_of(path: str) -> Path | None:
    """The file in assets/ with this path; None if there is none, or if the path leads out of assets/."""
    with suppress(OSError, ValueError):  # a path that no system could have
        file = (ASSETS / path).resolve()
        if file.is_relative_to(ASSETS.resolve()) and file.is_file():
            return file
    return None


async def serve(request: Request) -> Response:
    """The route `/assets/<version>/<path>`.

    The version is not read: it makes browsers fetch a changed script anew.
    """
    file = _file_of(request.path_params["path"])
    if file is None:
        return Response("There is no such file.", 404)
    headers = {"Cache-Control": FOR_EVER, "Vary": "Accept-Encoding"}
    media_type = TYPES.get(file.suffix) or guess_type(file.name)[0]
    if "gzip" not in request.headers.get("Accept-Encoding", ""):
        return Response(await run_in_threadpool(file.read_bytes), headers=headers, media_type=media_type)
    headers["Content-Encoding"] = "gzip"
    return Response(await run_in_threadpool(_compressed, file), headers=headers, media_type=media_type)
