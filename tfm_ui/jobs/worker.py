"""The worker process: `python -m tfm_ui.jobs.worker TABLE BYTES`. Messages pass through its standard input and output.

It runs one job at a time. If a job fails, it reports why, and waits for the next job. When its input is closed, the
server has ended, and the worker exits.
"""

import gc
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from queue import SimpleQueue
from typing import BinaryIO

from tfm_ui.jobs.messages import Ended, FromWorker, JobStep, Ready, Start, Stepped, Stop
from tfm_ui.settings import SETTINGS

PAUSE = 0.2  # seconds between two steps that are sent; the last step is always sent
NO_MEMORY = "allocate memory", "out of memory"  # in messages of torch, which does not raise MemoryError

JobFunction = Callable[[Hashable], Iterator[JobStep]]


def main(table: str, memory: int) -> None:
    """Run jobs until the server has ended.

    Args:
        table: where the job table is, as `pkgutil.resolve_name` reads it.
        memory: bytes that a job may take in addition to what the process has after its imports.
    """
    inbox, outbox = _pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, and with it the worker
    wanted: SimpleQueue[Start] = SimpleQueue()
    stops: set[int] = set()
    threading.Thread(target=_listen, args=(inbox, wanted, stops), daemon=True).start()
    _be_the_first_victim()
    jobs: Mapping[str, JobFunction] = {name: resolve_name(path) for name, path in resolve_name(table).items()}
    _keep()
    _limit(memory)

    def say(message: FromWorker) -> None:
        pickle.dump(message, outbox)
        outbox.flush()

    say(Ready())
    while True:
        start = wanted.get()
        say(_run(jobs[start.name], start, stops, say, memory))
        _free()


def _keep() -> None:
    """Let passes reuse what earlier ones freed."""
    if "torch" in sys.modules:
        from tfm_core.allocator import configure

        configure()


def _free() -> None:
    """Give back what a job has left, failed or not: a worker lives as long as the server, and keeps it otherwise."""
    gc.collect()
    if "torch" in sys.modules:
        from tfm_core.allocator import give_back

        give_back()


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes from and to the server. Whatever a job prints, also from C code, goes to standard error instead."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return inbox, outbox


def _listen(inbox: BinaryIO, wanted: SimpleQueue[Start], stops: set[int]) -> None:
    with suppress(EOFError, OSError):
        while True:
            message = pickle.load(inbox)
            if isinstance(message, Stop):
                stops.add(message.number)
            else:
                wanted.put(message)
    os._exit(0)  # at once, even within a job: nobody waits for its result any more


def _run(job: JobFunction, start: Start, stops: set[int], say: Callable[[FromWorker], None], memory: int) -> Ended:
    """Run the job and send its steps; return how it ended."""
    unsent: JobStep | None = None
    sent_at, stopped, problem = -PAUSE, False, ""
    try:
        steps = job(start.argument)
        for step in steps:
            unsent = step
            if time.monotonic() - sent_at >= PAUSE:
                say(Stepped(start.number, step))
                unsent, sent_at = None, time.monotonic()
            if start.number in stops and step.share < 1:
                stopped = True
                break
        del steps  # closes the generator before the end is reported
    except Exception as error:
        problem = _sentence(error, memory)
    if unsent is not None:
        say(Stepped(start.number, unsent))
    return Ended(start.number, stopped, problem)


def _sentence(error: Exception, memory: int) -> str:
    said = " ".join(str(error).split())
    if isinstance(error, MemoryError) or any(words in said for words in NO_MEMORY):
        by = SETTINGS.lowered_by("job_bytes")
        return f"It needed more memory than the {memory / 1e9:.1f} GB that it may take here{by}."
    return f"{type(error).__name__}: {said[:200]}"


def _be_the_first_victim() -> None:
    """Ask Linux to end this process, and not the app, when the machine runs out of memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit(memory: int) -> None:
    """Limit this process's memory, on Linux: a job gets an error before the machine runs out of memory."""
    if sys.platform != "linux":
        return
    import resource

    has = re.search(r"VmData:\s*(\d+) kB", Path("/proc/self/status").read_text())
    if has:
        limit = int(has[1]) * 1024 + memory
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
