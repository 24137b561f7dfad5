"""This server's queue, and its visitors as the queue's clients: a client is a tab, by the session's name."""

import atexit
import threading
from collections.abc import Hashable

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from tfm_ui.jobs.job import Request, Seen
from tfm_ui.jobs.queue import Queue

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
        Refused: where too much of this visitor's waits already.
    """
    client = _client()
    return queue().submit(client, request, lambda: _is_there(client))


def stop(number: int) -> None:
    """This visitor no longer wants it."""
    queue().stop(_client(), number)


def find(name: str, argument: Hashable) -> Seen | None:
    """The job that does this now, for whomever; else the last that did for this visitor."""
    client = _client()
    return queue().find(client, name, argument, lambda: _is_there(client))


def mine() -> list[Seen]:
    """What this visitor waits for."""
    return queue().of(_client())


def _client() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def _is_there(client: str) -> bool:
    return Runtime.exists() and Runtime.instance().is_active_session(client)
