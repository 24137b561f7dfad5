"""The routes /live and /ready: whether the server has to be started anew, and whether it can do its work now."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tfm_ui.jobs import sessions
from tfm_ui.server.pool import POOL
from tfm_ui.server.pool_member import prepare
from tfm_ui.server.same_origin import is_same_origin
from tfm_ui.server.shutdown import leave
from tfm_ui.server.watch import Watch
from tfm_ui.store import shared

PATIENCE = 2.0  # seconds that a part may take to answer

WATCH = Watch(lambda: [worker.alive for worker in POOL.status()], prepare, leave)

Check = Callable[[], str]

# Threads of their own: others may all be waiting for pictures, or for the very part that does not answer.
_threads = ThreadPoolExecutor(4, thread_name_prefix="ready")


async def live(_: Request) -> Response:
    """The route `/live`: status 503 if worker processes have ended and do not come again.

    It needs no thread, no turn and no other process, so that it is answered however much there is to compute.
    """
    problem = WATCH.problem
    return PlainTextResponse(problem or "alive", 503 if problem else 200, {"Cache-Control": "no-store"})


def _jobs() -> str:
    sessions.load()  # waits while the queue is locked
    return ""


def _workers() -> str:
    workers = POOL.status()
    return "" if not workers or any(worker.alive for worker in workers) else "No worker process can be asked."


CHECKS: Mapping[str, Check] = {"jobs": _jobs, "workers": _workers, "store": shared.problem}


async def problems(checks: Mapping[str, Check], patience: float = PATIENCE) -> dict[str, str]:
    """Part of the server -> why it cannot be asked, in a sentence, for those parts that cannot."""
    answers = await asyncio.gather(*(_answer(check, patience) for check in checks.values()))
    return {part: problem for part, problem in zip(checks, answers, strict=True) if problem}


async def _answer(check: Check, patience: float) -> str:
    try:
        return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(_threads, check), patience)
    except TimeoutError:
        return f"It has not answered within {patience:g} seconds."
    except Exception as error:
        return f"It has failed with {type(error).__name__}."


async def ready(request: Request) -> Response:
    """The route `/ready`: status 200, or 503 with the reasons. The routes exist only when the start is over."""
    reasons = await problems(CHECKS)
    told = {"ready": not reasons} | ({"problems": reasons} if reasons and is_same_origin(request) else {})
    return JSONResponse(told, 503 if reasons else 200, {"Cache-Control": "no-store"})
