"""This server's queue, as the visitor whose script runs sees it: a visitor by their browser, a tab by its session."""

import atexit
import threading
from collections.abc import Hashable

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from tfm_ui.jobs.job import JobStatus, Request, Tab
from tfm_ui.jobs.queue import Queue
from tfm_ui.visitors.visitor import visitor_here

_lock = threading.Lock()
_queues: list[Queue] = []


def queue() -> Queue:
    """The one queue of this server, its worker on the way: whoever opens a page that may need it calls this first."""
    with _lock:
        if not _queues:
            _queues.append(Queue())
            atexit.register(_queues[0].close)
    _queues[0].open()
    return _queues[0]


def submit(request: Request) -> int:
    """Ask for something on behalf of the visitor whose script runs.

    Raises:
        Refused: where too much waits already, of this visitor's or in all.
    """
    return queue().submit(visitor_here(), request, _tab())


def stop(number: int) -> None:
    """This visitor no longer wants it, in none of their tabs."""
    queue().stop(visitor_here(), number)


def find(name: str, argument: Hashable) -> JobStatus | None:
    """The job that does this now, for whomever; else the last that did for this visitor."""
    return queue().find(visitor_here(), name, argument, _tab())


def mine() -> list[JobStatus]:
    """What this visitor waits for."""
    return queue().of(visitor_here())


def _tab() -> Tab:
    context = get_script_run_ctx(suppress_warning=True)
    name = context.session_id if context else ""
    return Tab(name, lambda: Runtime.exists() and Runtime.instance().is_active_session(name))
