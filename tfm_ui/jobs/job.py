"""A job of the queue, and what is told of it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Literal

from tfm_ui.jobs.messages import Step

State = Literal["waiting", "running", "done", "stopped", "failed"]


class Refused(ValueError):
    """Why a job is not taken, in a sentence."""


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes:
        name: a key of the table.
        argument: of the job, a plain value; who asks for the same joins.
        seconds: that it will take, an estimate.
        limit: seconds after which it is stopped.
        then: is given the last step when it is over, however it ended; quickly, and without asking the queue.
    """

    name: str
    argument: Hashable
    seconds: float
    limit: float
    then: Callable[[Step], None] = field(default=lambda step: None, compare=False)

    def same(self, name: str, argument: Hashable) -> bool:
        """Whether that is asked for here."""
        return (self.name, self.argument) == (name, argument)


@dataclass(frozen=True)
class Tab:
    """Where a visitor looks at the app: as long as one of theirs is open, what they asked for goes on.

    Attributes:
        name: of the session.
        is_open: whether it still is.
    """

    name: str
    is_open: Callable[[], bool] = field(default=lambda: True, compare=False)


@dataclass(eq=False)
class Job:
    """One of them, as the queue keeps it.

    Attributes:
        number: counted from 1.
        request: what is to be done.
        visitors: who wants it.
        asked: who ever did.
        state: how far it is.
        step: the last that came of it.
        problem: why it failed, or was stopped by nobody who wanted it.
        began: when it was started.
        told_to_stop: when the worker was told to stop it; None if it was not.
    """

    number: int
    request: Request
    visitors: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    state: State = "waiting"
    step: Step | None = None
    problem: str = ""
    began: float = 0.0
    told_to_stop: float | None = None

    @property
    def under_way(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")

    def left(self, now: float) -> float:
        """Seconds until it is done, once it is its turn: an estimate."""
        if self.state == "running":
            return self.step.seconds_left if self.step else max(0.0, self.request.seconds - (now - self.began))
        return self.request.seconds


@dataclass(frozen=True)
class JobStatus:
    """What one visitor sees of a job at one moment, in all of their tabs.

    Attributes:
        number: names it.
        state: how far it is.
        mine: whether this visitor has asked for it, and not left it.
        before: jobs that come before it.
        wait: seconds until it starts, an estimate.
        seconds_left: seconds that it then takes, an estimate.
        step: the last that came of it.
        problem: why it failed, or was stopped by nobody who wanted it.
        stopping: whether the worker was told to stop it.
    """

    number: int
    state: State
    mine: bool
    before: int
    wait: float
    seconds_left: float
    step: Step | None
    problem: str
    stopping: bool

    @property
    def under_way(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")
