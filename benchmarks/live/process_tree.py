"""What a process and all its descendants use: processor time, and memory."""

from contextlib import suppress

import psutil


class ProcessTree:
    """A process with its descendants, as they come and go."""

    def __init__(self, process: int) -> None:
        self._root = psutil.Process(process)

    def processor_seconds(self) -> float:
        """The processor time that they have taken, with that of descendants that have ended."""
        return sum(sum(process.cpu_times()[:4]) for process in self._processes())

    def memory(self) -> float:
        """Their memory in MB; what several of them share counts once, where the system tells it (on Linux)."""
        most = 0
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                told = process.memory_full_info()
                most += getattr(told, "pss", told.uss)
        return most / 1e6

    def _processes(self) -> list[psutil.Process]:
        return [self._root, *self._root.children(recursive=True)]


def machine_seconds() -> float:
    """The processor time that all processes of this machine have taken."""
    told = psutil.cpu_times()
    return float(told.user + told.nice + told.system)
