"""The route /status: what the server is, what it may do and what it is doing. It tells nothing of its visitors."""

import dataclasses
import time
from ipaddress import ip_address
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from tfm_ui.jobs import sessions
from tfm_ui.server import processes
from tfm_ui.server.load import queues, versions
from tfm_ui.server.pool import POOL
from tfm_ui.server.same_origin import is_same_origin
from tfm_ui.server.status_page import page
from tfm_ui.settings import SETTINGS, written
from tfm_ui.store import shared
from tfm_ui.visitors import metrics

FORWARDED = "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"
NOT_PUBLIC = "expected a program on the server's machine, or the setting ATTENTION_LAB_STATUS=everybody"

_begin = time.monotonic()


def memory() -> dict[str, Any]:
    """The memory of the server's processes, in megabytes."""
    each = processes.of_server(worker.pid for worker in POOL.status() if worker.alive)

    def megabytes(count: int) -> float:
        return round(count / 1e6, 1)

    return {
        "rss_mb": megabytes(sum(process.rss for process in each)),
        "pss_mb": megabytes(sum(process.pss for process in each)),
        "limit_mb": megabytes(processes.limit()),
        "processes": [
            {"pid": p.pid, "runs": p.command, "rss_mb": megabytes(p.rss), "pss_mb": megabytes(p.pss)} for p in each
        ],
    }


def workers() -> list[dict[str, Any]]:
    """The processes that compute pictures."""
    return [dataclasses.asdict(worker) for worker in POOL.status()]


def _sections() -> dict[str, Any]:
    job_worker = sessions.load()
    return {
        "up_seconds": round(time.monotonic() - _begin),
        "versions": versions(),
        "queues": queues(),
        "workers": workers(),
        "store": {"kind": "Redis" if SETTINGS.store else "local", "answers": not shared.problem()}
        | ({"advice": advice} if (advice := shared.advice()) else {}),
        "job_worker": {"started": job_worker.started, "ready": job_worker.ready},
        "latency": {"page runs": metrics.told_of(metrics.PAGE_RUNS), "pictures": metrics.told_of(metrics.PICTURES)},
        "memory": memory(),
        "settings": written(SETTINGS),
    }


def may_read(connection: HTTPConnection, who: str = "") -> bool:
    """Whether whoever asks may read the status.

    Args:
        connection: the question.
        who: the setting ATTENTION_LAB_STATUS, if it is not this server's.
    """
    if not is_same_origin(connection):
        return False
    return (who or SETTINGS.status) == "everybody" or _is_local(connection)


def _is_local(connection: HTTPConnection) -> bool:
    """Whether a program on this machine asks, for nobody else: a proxy on this machine asks for its visitors."""
    if any(name in connection.headers for name in FORWARDED) or not connection.client:
        return False
    try:
        return ip_address(connection.client.host).is_loopback
    except ValueError:
        return False


async def status(request: Request) -> Response:
    """The route `/status`: JSON, or for a browser a page."""
    headers = {"Cache-Control": "no-store"}
    if not may_read(request):
        return PlainTextResponse(NOT_PUBLIC, 403, headers)
    told = await run_in_threadpool(_sections)
    if "text/html" in request.headers.get("Accept", ""):
        return HTMLResponse(page(told), headers=headers)
    return JSONResponse(told, headers=headers)
