"""What the server and its worker process say to each other, pickled one after the other."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol


class Step(Protocol):
    """What a job yields: how far it is. All else that it has found by then, the step carries along."""

    @property
    def share(self) -> float:
        """Of the work that is done, 0 to 1."""
        ...

    @property
    def seconds_left(self) -> float:
        """An estimate."""
        ...

    @property
    def doing(self) -> str:
        """What is done now, in words."""
        ...


@dataclass(frozen=True)
class Start:
    """To the worker: do this; one at a time."""

    number: int
    name: str
    argument: Hashable


@dataclass(frozen=True)
class Stop:
    """To the worker: end this job after its present step."""

    number: int


@dataclass(frozen=True)
class Ready:
    """From the worker: all is imported."""


@dataclass(frozen=True)
class Stepped:
    """From the worker: a job's latest step."""

    number: int
    step: Step


@dataclass(frozen=True)
class Ended:
    """From the worker: a job is over.

    Attributes:
        number: the job's.
        stopped: whether it was stopped before it came to its end.
        problem: why it failed, in a sentence; "" if it did not.
    """

    number: int
    stopped: bool = False
    problem: str = ""


@dataclass(frozen=True)
class WorkerExited:
    """Of the worker, from whoever listens to it: its process is no more; its exit code, negative for a signal."""

    code: int


FromWorker = Ready | Stepped | Ended | WorkerExited


class Worker(Protocol):
    """What works."""

    def say(self, message: Start | Stop) -> None:
        """Tell it."""
        ...

    def kill(self) -> None:
        """End it, whatever it does."""
        ...

    def close(self) -> None:
        """End it, and wait until it has ended."""
        ...
