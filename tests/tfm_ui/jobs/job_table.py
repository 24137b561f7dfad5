"""Small jobs for the tests of the worker and its queue."""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """A step."""

    share: float
    seconds_left: float = 0.0
    doing: str = ""
    held: int = 0


def count(to: int) -> Iterator[Count]:
    """Counts quickly, and prints to the standard output, which the worker uses for its messages."""
    for number in range(to):
        sys.stdout.write("these words do no harm\n")
        yield Count((number + 1) / to, doing=f"{number + 1} of {to}")


def slowly(seconds: float) -> Iterator[Count]:
    """Yields a step, waits `seconds`, and so on without end."""
    number = 0
    while True:
        number += 1
        yield Count(1 - 1 / (number + 1), doing=str(number))
        time.sleep(seconds)


def deaf(_: object) -> Iterator[Count]:
    """Yields one step, and then does not return."""
    yield Count(0.5, doing="deaf")
    time.sleep(600)


def memory(size: int) -> Iterator[Count]:
    """Allocates `size` bytes."""
    yield Count(0.5)
    yield Count(1.0, held=len(bytearray(size)))


def broken(words: str) -> Iterator[Count]:
    """Fails."""
    yield Count(0.5)
    raise ValueError(words)


JOBS = {name: f"tests.tfm_ui.jobs.job_table:{name}" for name in ("count", "slowly", "deaf", "memory", "broken")}
