"""Where comparisons are kept: a small file for each task, beside the runs; in memory where no folder can be written."""

import threading
from contextlib import suppress
from pathlib import Path

from tfm_core.training.comparison import Comparison, NotAComparison, as_json, read
from tfm_core.training.folder import SHIPPED, Stamp, default_folder, stamp_of, write
from tfm_core.training.tasks.table import TASKS

MOST_BYTES = 1_000_000  # of a file; a larger one is none of ours


class Outcomes:
    """All methods may be called by any thread."""

    def __init__(self, folder: Path | None = None, *, shipped: Path = SHIPPED) -> None:
        """Open it; the folder is made when the first comparison is kept.

        Args:
            folder: where the files are; that of the runs, by default.
            shipped: a second folder, whose comparisons are read and never removed.
        """
        self.folder, self.shipped = folder or default_folder(), shipped
        self.problem = ""  # why comparisons live in memory alone, in a sentence; "" if they are on disk
        self._lock = threading.Lock()
        # Task -> the latest, so there are few; and the file in which it was found, for another process may write, too.
        self._memory: dict[str, tuple[Comparison, Stamp | None]] = {}

    def find(self, task: str) -> Comparison | None:
        """The latest comparison that was computed here, else the one that comes with the app; None if there is none."""
        if task not in TASKS:
            return None
        with self._lock:
            comparison, known = self._memory.get(task, (None, None))
            stamp = stamp_of(_path(self.folder, task))
            if comparison is None or (stamp and stamp != known):
                for folder in (self.folder, self.shipped):
                    if latest := self._read(folder, task):
                        self._memory[task] = latest, stamp
                        return latest
            return comparison

    def keep(self, comparison: Comparison) -> None:
        """Keep a comparison, in place of an earlier one of its task."""
        with self._lock:
            path = _path(self.folder, comparison.task)
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write(path, as_json(comparison).encode())
                self.problem = ""
            except OSError as error:
                self.problem = (
                    f"Comparisons are kept in memory until the server ends: {self.folder} cannot be written "
                    f"({error.strerror or error})."
                )
            self._memory[comparison.task] = comparison, stamp_of(path)

    def _read(self, folder: Path, task: str) -> Comparison | None:
        path = _path(folder, task)
        try:
            if path.stat().st_size > MOST_BYTES:
                raise NotAComparison(f"expected at most {MOST_BYTES} bytes")
            comparison = read(path.read_text(encoding="utf-8"))
            if comparison.task != task:
                raise NotAComparison(f"task: expected {task!r}, got {comparison.task!r}")
        except OSError:
            return None
        except ValueError:
            if folder == self.folder:
                with suppress(OSError):
                    path.unlink()
            return None
        return comparison


def _path(folder: Path, task: str) -> Path:
    return folder / f"compare-{task}.json"


OUTCOMES = Outcomes()
