"""The processes of the server, and how much memory they take."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

LIMIT = Path("/sys/fs/cgroup/memory.max")  # of the container, in which the whole server is


@dataclass(frozen=True)
class Memory:
    """The memory of a process, in bytes.

    Attributes:
        pid: the number of the process.
        command: the last word of what it runs that tells processes apart.
        rss: what it has in memory, shared or not.
        pss: the same, but of what several processes share each counts its part; 0 where the system does not tell.
    """

    pid: int
    command: str
    rss: int
    pss: int


def of_server(workers: Iterable[int] = ()) -> list[Memory]:
    """The server's process, and all that it has started.

    Args:
        workers: the numbers of worker processes, which are no descendants once what forked them was killed.
    """
    server = psutil.Process(os.getpid())
    numbers = [process.pid for process in (server, *server.children(recursive=True))]
    return list(_memory_of(dict.fromkeys([*numbers, *workers])))


def _memory_of(numbers: Iterable[int]) -> Iterator[Memory]:
    for number in numbers:
        with suppress(psutil.Error):  # it has ended, or belongs to somebody else
            process = psutil.Process(number)
            memory = process.memory_full_info()
            yield Memory(process.pid, _command(process.cmdline()), memory.rss, getattr(memory, "pss", 0))


def _command(words: list[str]) -> str:
    """What a process runs: the module behind -m or the name of the program, never its arguments."""
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    if "-c" in words[:-1]:
        return words[words.index("-c") + 1].partition(" import ")[0].rpartition(" ")[2]
    return Path(words[0]).name if words else ""


def limit(file: Path = LIMIT) -> int:
    """Bytes that all processes together may take: the container's limit, or the machine's memory."""
    machine = int(psutil.virtual_memory().total)
    try:
        return min(int(file.read_text(encoding="ascii")), machine)
    except (OSError, ValueError):  # no container, or "max"
        return machine
