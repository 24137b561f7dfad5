"""The messages between the server and its worker process; each is pickled on its own."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol


class JobStep(Protocol):
    """What a job yields: how far it is. A step may also hold the results so far.

    Where they may be large, it has a method `without_results`, which makes the step that is remembered in its place
    when the job has ended and its results are kept.
    """

    @property
    def share(self) -> float:
        """How much of the work is done, 0 to 1."""
        ...

    @property
    def seconds_left(self) -> float:
        """The estimated seconds until the job is done."""
        ...

    @property
    def doing(self) -> str:
        """What the job is doing now, in words."""
        ...


@dataclass(frozen=True)
class Start:
    """The order to the worker to run this job. It gets the next one when this one has ended."""

    number: int
    name: str
    argument: Hashable


@dataclass(frozen=True)
class Stop:
    """The order to the worker to end this job after its current step."""

    number: int


@dataclass(frozen=True)
class Ready:
    """The worker's message that all imports are done."""


@dataclass(frozen=True)
class Stepped:
    """The worker's message with the latest step of a job."""

    number: int
    step: JobStep


@dataclass(frozen=True)
class Ended:
    """The worker's message that a job has ended.

    Attributes:
        number: the job's number.
        stopped: whether it was stopped before it was done.
        problem: why it failed, in a sentence; "" if it did not.
    """

    number: int
    stopped: bool = False
    problem: str = ""


@dataclass(frozen=True)
class WorkerExited:
    """A message of the thread that reads the worker's messages: the process has exited.

    Attributes:
        code: its exit code; negative for a signal.
    """

    code: int


FromWorker = Ready | Stepped | Ended | WorkerExited


class Worker(Protocol):
    """A worker as the queue uses it: a process, or a fake one in tests."""

    def say(self, message: Start | Stop) -> None:
        """Send it a message."""
        ...

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        ...

    def close(self) -> None:
        """End it, and wait until it has ended."""
        ...
