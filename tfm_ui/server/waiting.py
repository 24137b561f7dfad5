"""The route `/waiting`: how long this visitor's page and pictures still wait for their turns, as browsers ask."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tfm_ui.visitors.turn import LIMITER
from tfm_ui.visitors.visitor import visitor_of


async def waiting(request: Request) -> Response:
    """The seconds by estimate, 0 if nothing of the visitor's waits. It needs no turn, so it is always answered."""
    seconds = LIMITER.expected(visitor_of(request))
    return JSONResponse({"seconds": round(seconds, 1)}, headers={"Cache-Control": "no-store"})
