"""A worker process of the pool as the server sees it: started, watched, and started anew when it has ended."""

import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from typing import Any

import psutil

from tfm_ui.folders import FOLDER
from tfm_ui.server.pool_worker import DeskProxy, WorkerManager, begin

PRELOADED = ["streamlit.web.cli", "tfm_ui.lenses.preloaded"]  # the first is what Streamlit's command imports
# There is a worker for each core, so each needs a single thread for a matrix of NumPy's, too; and few of glibc's
# arenas, because each arena keeps freed memory of its threads, which the others cannot use.
FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
# Torch then asks NVIDIA's library, and not CUDA itself, whether there is a GPU: a process that is forked from one in
# which CUDA has answered cannot use it, and the view that tells what a GPU takes would fail.
UNASKED = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
NAMED = 5.0  # seconds within which a process that was started has its command line, however busy the machine is
AGAIN = 1.0  # seconds between two attempts to start a worker that cannot be started

_log = logging.getLogger(__name__)
_preparing = threading.Lock()
_forks: list[psutil.Process] = []  # the process from which workers are forked, once it has been started


def method() -> BaseContext:
    """How processes are started.

    On Linux they are forked from a process of one thread that has all imports and nothing else: a fork of the server
    itself may hang, as torch has threads. Elsewhere each imports what it needs.
    """
    return multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


def prepare() -> None:
    """Start the process from which workers are forked, unless it runs.

    Its imports take seconds, during which this process goes on. It is started anew after it was killed, as the system
    does where memory runs out: by whoever needs a worker, and by tfm_ui/server/watch.py.
    """
    if sys.platform != "linux":
        return
    with _preparing:
        resource_tracker.ensure_running()  # without it, no process can be forked
        if _forks and _runs(_forks[-1]):
            return
        forkserver.set_forkserver_preload(PRELOADED)
        with _environment(**FEW_THREADS, **UNASKED, PYTHONPATH=_below_root()):
            forkserver.ensure_running()
        _forks[:] = _just_started(_forks_workers)


def forker(older_than: float = 0.0) -> int:
    """The number of the process from which workers are forked, if it is older than so many seconds; else 0."""
    with _preparing:
        return next((each.pid for each in _forks if time.time() - each.create_time() > older_than), 0)


def _just_started(is_it: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    """The children of this process that are such, as soon as there is one: a process has no command line for a moment
    when it is started.
    """
    give_up = time.monotonic() + NAMED
    while True:
        children = [child for child in psutil.Process().children() if _runs(child) and is_it(child)]
        if children or time.monotonic() > give_up:
            return children
        time.sleep(0.005)


def _forks_workers(process: psutil.Process) -> bool:
    try:
        return "multiprocessing.forkserver" in " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return False


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


class Member:
    """A worker process, and those that replace it when it ends.

    Attributes:
        desk: what the process can be asked; None while there is no process.
        pid: the number of the process, or of the last.
        forked_by: the number of the process from which it was forked.
        starts: how many processes there have been.
        answered: questions that it is done with.
        busy: questions that are being answered, of which `slow` are in the slow lane.
    """

    def __init__(self, compute: Callable[..., Any], changed: threading.Condition) -> None:
        """Start the process, which takes a moment.

        Args:
            compute: computes an answer in the process; a function of a module, see `Desk`.
            changed: notified when the process is ready and when it has ended; guards the attributes.
        """
        self.desk: DeskProxy | None = None
        self.forked_by = 0
        self.pid = self.starts = self.answered = self.busy = self.slow = 0
        self._compute, self._changed, self._is_closed = compute, changed, threading.Event()
        self._process: psutil.Process | None = None
        self._keeper = threading.Thread(target=self._keep, name="keeps a worker", daemon=True)
        self._keeper.start()

    @property
    def lives(self) -> bool:
        """Whether the process can be asked, as far as is known now: its keeper hears of its end a moment later."""
        return bool(self.desk and self._process and _runs(self._process))

    def _keep(self) -> None:
        while not self._is_closed.is_set():
            try:
                self._live()
            except Exception:  # whatever it is, such as no memory for another process: without a keeper there is none
                _log.exception("A worker process could not be started. There will be another attempt.")
                self._is_closed.wait(AGAIN)

    def _live(self) -> None:
        """Start a process, and return when it has ended."""
        prepare()
        forked_by = forker()
        manager = WorkerManager(ctx=method())
        manager.start(begin)
        desk = manager.desk(self._compute)
        process = psutil.Process(desk.pid())
        with self._changed:
            self.pid, self._process, self.desk, self.forked_by = process.pid, process, desk, forked_by
            self.starts += 1
            self._changed.notify_all()
        if self._is_closed.is_set():
            _kill(process)
        _wait_for_the_end_of(process)
        with self._changed:
            self.desk = None
            self._changed.notify_all()
        if not self._is_closed.is_set():
            _log.warning("Worker process %s has ended and is replaced.", self.pid)

    def replace(self, desk: DeskProxy) -> None:
        """End the process with this desk, which does not answer, unless it has been replaced already."""
        with self._changed:
            if self.desk is desk and self._process:
                self.desk = None
                _kill(self._process)

    def close(self) -> None:
        """End the process, and do not replace it."""
        self._is_closed.set()
        if self._process:
            _kill(self._process)
        self._keeper.join()


def _kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill()


def _wait_for_the_end_of(process: psutil.Process) -> None:
    """Return when a worker has ended.

    On Linux it is no child of this process, and `multiprocessing` hears of its end from the process that forked it:
    when that one is killed, its workers would count as ended, too, and go on beside those that replace them.
    """
    if sys.platform == "linux":
        while _runs(process):  # a process that nobody reaps after its end is there, and does not run
            with suppress(psutil.TimeoutExpired):
                process.wait(timeout=1)
    else:
        for child in multiprocessing.active_children():
            if child.pid == process.pid:
                child.join()


def _below_root() -> str:
    """The search path of modules with this project's folder, wherever the server was started."""
    return os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Environment variables for a process that is started in the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
