"""Watches over the server's processes, and ends the server where they cannot be had again.

Each process that ends is replaced by whoever keeps it: workers by tfm_ui/server/pool_member.py, the process that
measures and trains by tfm_ui/jobs/queue.py, and the process from which workers are forked from here. Where no worker
comes for a minute, this process ends, with exit code 1, so that whatever started it (an engine for containers, systemd)
starts all of it anew: a server without workers would refuse every picture until somebody notices.
"""

import logging
import threading
from collections.abc import Callable, Sequence

CHECK_SECONDS = 1.0  # seconds between two looks
NOTICED = 10  # looks without a worker after which /live says so
GIVES_UP = 60  # looks without a worker after which the server ends

_log = logging.getLogger(__name__)


class Watch:
    """What is looked at, again and again. It counts looks, not seconds: a machine may have slept.

    Args:
        workers: whether each worker process can be asked now; none if this process computes by itself.
        look_after: starts the process from which workers are forked, unless it runs, and renews workers.
        end: ends the server.
    """

    def __init__(
        self, workers: Callable[[], Sequence[bool]], look_after: Callable[[], None], end: Callable[[int], None]
    ) -> None:
        self._workers, self._look_after, self._end = workers, look_after, end
        self._without = 0  # looks on end that found no worker
        self._is_over = threading.Event()

    @property
    def problem(self) -> str:
        """Why the server does not do its work, in a sentence; "" if it does."""
        return f"No worker process could be asked for {NOTICED} seconds." if self._without >= NOTICED else ""

    def look(self) -> None:
        """Look once."""
        workers = self._workers()
        self._without = self._without + 1 if workers and not any(workers) else 0
        if self._without >= GIVES_UP:
            _log.critical("No worker process could be started for %d seconds: the server ends.", GIVES_UP)
            self._end(1)
        elif workers:
            self._look_after()

    def start(self) -> None:
        """Look every second, in a thread of its own, until `close`."""
        threading.Thread(target=self._go_on, name="watches the processes", daemon=True).start()

    def _go_on(self) -> None:
        while not self._is_over.wait(CHECK_SECONDS):
            try:
                self.look()
            except Exception:  # no memory for another process, for instance: the next look may have it
                _log.exception("The server's processes could not be looked after.")

    def close(self) -> None:
        """Look no more."""
        self._is_over.set()
