"""The server's end of the worker process."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tfm_ui.jobs.messages import FromWorker, Start, Stop, WorkerExited

ROOT = Path(__file__).parents[2]
TABLE = "tfm_ui.jobs.table:JOBS"
# Twice what is let in by its estimate: an estimate is none of the allocator's, and a job that needs more fails alone.
MEMORY = 4_000_000_000


class Process:
    """A worker, started at once; its imports take seconds, after which it says `Ready`."""

    def __init__(
        self, heard: Callable[["Process", FromWorker], None], *, table: str = TABLE, memory: int = MEMORY
    ) -> None:
        """Start it.

        Args:
            heard: is told what the worker says, in a thread of its own; `WorkerExited` is the last.
            table: where the jobs' table is.
            memory: bytes that a job may take.
        """
        self._heard = heard
        # Neither fork nor multiprocessing: a forked torch may hang, and a spawned child would run Streamlit's script.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tfm_ui.jobs.worker", table, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # a job may ask for more
        )
        self.pid = self._process.pid
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout
        try:
            with self._process.stdout as outbox, suppress(EOFError, pickle.UnpicklingError):
                while True:
                    self._heard(self, pickle.load(outbox))
        finally:  # a worker that nobody hears any more must not hold up the queue
            self._heard(self, WorkerExited(self._end()))

    def _end(self) -> int:
        """Its exit code. It has closed its output, or says what nobody understands."""
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        assert self._process.stdin
        with suppress(OSError):
            self._process.stdin.close()
        return code

    def say(self, message: Start | Stop) -> None:
        """Tell the worker; one that has just ended hears nothing."""
        assert self._process.stdin
        with suppress(OSError, ValueError):  # broken, or closed
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait until it has ended."""
        self._process.kill()
        self._listener.join()
