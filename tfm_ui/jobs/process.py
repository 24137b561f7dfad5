"""The worker process as the server sees it: starts the process, sends it messages and reads its answers."""

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from tfm_ui.folders import FOLDER
from tfm_ui.jobs.messages import FromWorker, Start, Stop, WorkerExited
from tfm_ui.settings import SETTINGS

TABLE = "tfm_ui.jobs.table:JOBS"


class Process:
    """A worker process. Its imports take seconds; then it sends `Ready`."""

    def __init__(
        self, heard: Callable[["Process", FromWorker], None], *, table: str = TABLE, memory: int = SETTINGS.job_bytes
    ) -> None:
        """Start the process.

        Args:
            heard: called with each message of the worker, in a separate thread; `WorkerExited` is the last message.
            table: where the job table is.
            memory: bytes that a job may take. A job that needs more fails, and nothing else does.
        """
        self._heard = heard
        # Neither fork nor multiprocessing: torch may hang in a forked process, and a process that multiprocessing
        # spawns would run Streamlit's script.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tfm_ui.jobs.worker", table, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=FOLDER,
        )
        self.pid = self._process.pid
        self._listener = threading.Thread(target=self._listen, daemon=True)
        try:
            self._listener.start()
        except RuntimeError:  # no thread
            with self._process:
                self._process.kill()
            raise

    def _listen(self) -> None:
        assert self._process.stdout
        try:
            with self._process.stdout as outbox, suppress(EOFError, pickle.UnpicklingError):
                while True:
                    self._heard(self, pickle.load(outbox))
        finally:  # also after an error: the queue must not wait for a worker whose messages are no longer read
            self._heard(self, WorkerExited(self._end()))

    def _end(self) -> int:
        """End the process, which has closed its output or sent something that is no message; return its exit code."""
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
        """Send the worker a message; if the process has just ended, the message is lost."""
        assert self._process.stdin
        with suppress(OSError, ValueError):  # a broken pipe, or a closed one
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait until it has ended."""
        self._process.kill()
        self._listener.join()
