"""Where comparisons are kept: a small content for each task, beside the runs; the latest in memory as well."""

import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

from tfm_core.training.comparison import Comparison, as_json, read
from tfm_core.training.folder import JSON, SHIPPED, Folder, Parts, Place, Stamp
from tfm_core.training.shelf import Shelf
from tfm_core.training.tasks.table import TASKS

COMPARISONS = "Comparisons"  # as a sentence begins
PREFIX = "compare"  # begins the names of comparisons
MOST_BYTES = 1_000_000  # of a comparison; a larger one is none of ours


class Outcomes:
    """All methods may be called by any thread; none waits while another reads or writes, which may take seconds.

    Attributes:
        shelf: where comparisons are kept.
        shipped: a folder, whose comparisons are read and never removed.
    """

    def __init__(self, place: Place | None = None, *, shipped: Path = SHIPPED) -> None:
        """Open it.

        Args:
            place: where comparisons are kept; that of the runs, by default.
            shipped: a folder, whose comparisons are read and never removed.
        """
        self.shelf, self.shipped = Shelf(COMPARISONS, place), shipped
        # Task -> the latest, so there are few; and its stamp when it was read, for another process may write, too.
        self._memory: dict[str, tuple[Comparison, Stamp | None]] = {}

    def find(self, task: str) -> Comparison | None:
        """The latest comparison that was computed here, else the one that comes with the app; None if there is none."""
        if task not in TASKS:
            return None
        stamp = self.shelf.stamp(_name(task))
        comparison, known = self._memory.get(task, (None, None))
        if comparison is not None and stamp in (None, known):
            return comparison
        latest = self._kept(task) or _comparison_in(Folder(self.shipped).read(_name(task)), task)
        if latest and self._memory.get(task, (None, None))[0] is comparison:  # else another thread knows better
            self._memory[task] = latest, stamp
        return latest or comparison

    def keep(self, comparison: Comparison) -> None:
        """Keep a comparison, in place of an earlier one of its task."""
        self.shelf.write(_name(comparison.task), {JSON: as_json(comparison).encode()})
        self._memory[comparison.task] = comparison, self.shelf.stamp(_name(comparison.task))

    @property
    def problem(self) -> str:
        """Why comparisons are not kept where they should be, or cannot be read there; "" if all is well."""
        return self.shelf.problem or self.shelf.unreadable

    def _kept(self, task: str) -> Comparison | None:
        for parts in self.shelf.contents(_name(task)):
            if comparison := _comparison_in(parts, task):
                return comparison
            self.shelf.remove(_name(task))
        return None


def _comparison_in(parts: Parts, task: str) -> Comparison | None:
    """The comparison that these parts are; None if they are none, or another task's."""
    with suppress(ValueError):
        if JSON in parts and len(parts[JSON]) <= MOST_BYTES:
            comparison = read(parts[JSON].decode())
            return comparison if comparison.task == task else None
    return None


def _name(task: str) -> str:
    return f"{PREFIX}-{task}"


def outcome_store() -> Outcomes:
    """The comparisons of this process; their place is made when they are first asked for."""
    with _making:
        return _made()


@cache
def _made() -> Outcomes:
    return Outcomes()


_making = threading.Lock()  # two threads that ask at once get the same
