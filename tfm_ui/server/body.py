"""The body of a request, as far as it is not too long."""

from starlette.requests import Request


async def bounded_body(request: Request, most: int) -> bytes | None:
    """The whole body; None if it has more than `most` bytes, of which no more are read.

    Raises:
        ClientDisconnect: if the client has gone.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return body
