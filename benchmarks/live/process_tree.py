"""What processes and all their descendants use: processor time, and memory."""

from contextlib import suppress

import psutil


class ProcessTree:
    """Processes with their descendants, as they come and go."""

    def __init__(self, *processes: int) -> None:
        self._roots = [psutil.Process(process) for process in processes]
        self._met = dict[int, psutil.Process]()

    def processor_seconds(self) -> float:
        """The processor time that they have taken, with that of descendants that have ended."""
        return sum(sum(process.cpu_times()[:4]) for process in self.processes())

    def memory(self) -> float:
        """Their memory in MB; what several of them share counts once, where the system tells it (on Linux)."""
        most = 0
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                told = process.memory_full_info()
                most += getattr(told, "pss", told.uss)
        return most / 1e6

    def processes(self) -> list[psutil.Process]:
        """Those that run now. One whose parent has ended is still among them, if it was met before."""
        below = [process for root in self._roots for process in (root, *root.children(recursive=True))]
        here = {process.pid: process for process in below}
        self._met = {pid: process for pid, process in (self._met | here).items() if process.is_running()}
        return list(self._met.values())


def machine_seconds() -> float:
    """The processor time that all processes of this machine have taken."""
    told = psutil.cpu_times()
    return float(told.user + told.nice + told.system)
