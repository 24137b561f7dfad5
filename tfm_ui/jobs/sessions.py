"""The server's queue for the visitor whose page script runs: the browser is the visitor, the session is the tab."""

import atexit
import threading
from collections.abc import Hashable

from tfm_ui.jobs.job import JobStatus, Load, Refused, Request, Tab
from tfm_ui.jobs.messages import JobStep
from tfm_ui.jobs.queue import Queue
from tfm_ui.settings import SETTINGS
from tfm_ui.streamlit_private.running import is_open
from tfm_ui.streamlit_private.script_run import session_here
from tfm_ui.visitors import metrics
from tfm_ui.visitors.visitor import visitor_here

_lock = threading.Lock()
_queues: list[Queue] = []


def queue() -> Queue:
    """The server's one queue. Pages that may need its worker call this early, so that nobody waits for its imports."""
    with _lock:
        if not _queues:
            _queues.append(Queue())
            atexit.register(_queues[0].close)
    if SETTINGS.job_worker == "early":
        _queues[0].open()
    return _queues[0]


def submit(request: Request) -> int:
    """Ask for a job on behalf of this visitor; return the job's number.

    Raises:
        Refused: if too much work waits already, of this visitor's or in all.
    """
    with metrics.REFUSED.labels("jobs").count_exceptions(Refused):
        return queue().submit(visitor_here(), request, _tab())


def stop(number: int) -> None:
    """Note that this visitor no longer wants the job, in any of the visitor's tabs."""
    queue().stop(visitor_here(), number)


def find(name: str, argument: Hashable) -> JobStatus | None:
    """The job that waits or runs with this name and argument, whoever asked for it; else this visitor's last one."""
    return queue().find(visitor_here(), name, argument, _tab())


def latest(name: str, argument: Hashable) -> JobStep | None:
    """The latest step of a job that is under way, whoever asked for it; None if there is none. Starts no worker."""
    job = _queues[0].find("", name, argument) if _queues else None
    return job.step if job and job.under_way else None


def is_under_way(name: str, argument: Hashable) -> bool:
    """Whether a job waits or runs, whoever asked for it. Starts no worker."""
    job = _queues[0].find("", name, argument) if _queues else None
    return job is not None and job.under_way


def mine() -> list[JobStatus]:
    """The jobs that this visitor waits for."""
    return queue().of(visitor_here())


def load() -> Load:
    """The work of all visitors. Starts no worker."""
    return _queues[0].load() if _queues else Load()


def any_under_way() -> bool:
    """Whether a job of anybody waits or runs. Starts no worker."""
    work = load()
    return work.running + work.waiting > 0


def _tab() -> Tab:
    name = session_here()
    return Tab(name, lambda: is_open(name))
