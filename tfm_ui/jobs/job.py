"""A job of the queue: the request for it, its state, and its status as one visitor sees it."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tfm_ui.jobs.messages import JobStep

State = Literal["waiting", "running", "done", "stopped", "failed"]


class Refused(ValueError):
    """A job is not accepted; the message says why, in a sentence."""


@dataclass(frozen=True)
class Request:
    """A request for a job.

    Attributes:
        name: a key of the job table.
        argument: the job's argument, a plain value. Requests with equal names and arguments share one job.
        seconds: the estimated duration.
        limit: seconds after which the job is stopped.
        then: called with the last step when the job has ended, also if it failed. It must be quick, and must not call
            the queue.
    """

    name: str
    argument: Hashable
    seconds: float
    limit: float
    then: Callable[[JobStep], None] = field(default=lambda step: None, compare=False)

    def same(self, name: str, argument: Hashable) -> bool:
        """Whether this is a request for that job."""
        return (self.name, self.argument) == (name, argument)


@dataclass(frozen=True)
class Tab:
    """A browser tab. A visitor's jobs go on as long as one of the visitor's tabs is open.

    Attributes:
        name: the id of the tab's session.
        is_open: tells whether the tab is still open.
    """

    name: str
    is_open: Callable[[], bool] = field(default=lambda: True, compare=False)


@dataclass(eq=False)
class Job:
    """A job, as the queue keeps it.

    Attributes:
        number: the job's number, from 1.
        request: the request that created it.
        visitors: the visitors who want it now.
        requesters: all visitors who have ever asked for it.
        state: how far it is.
        step: the latest step, without large results once the job has ended; None before the first.
        problem: why it failed, or why the server stopped it.
        began: when it was started.
        told_to_stop: when the worker was told to stop it; None if it was not.
    """

    number: int
    request: Request
    visitors: set[str] = field(default_factory=set)
    requesters: set[str] = field(default_factory=set)
    state: State = "waiting"
    step: JobStep | None = None
    problem: str = ""
    began: float = 0.0
    told_to_stop: float | None = None

    @property
    def under_way(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")

    def left(self, now: float) -> float:
        """The estimated seconds until the job is done, counted from its start or, if it runs, from now."""
        if self.state == "running":
            return self.step.seconds_left if self.step else max(0.0, self.request.seconds - (now - self.began))
        return self.request.seconds

    def status(self, visitor: str, before: "Sequence[Job]", now: float) -> "JobStatus":
        """The job as a visitor sees it now, with these jobs before it."""
        return JobStatus(
            number=self.number,
            state=self.state,
            mine=visitor in self.visitors,
            before=len(before),
            wait=sum(other.left(now) for other in before),
            seconds_left=self.left(now),
            step=self.step,
            problem=self.problem,
            stopping=self.told_to_stop is not None,
        )


@dataclass(frozen=True)
class JobStatus:
    """A job as one visitor sees it at one moment, in all of the visitor's tabs.

    Attributes:
        number: the job's number.
        state: how far it is.
        mine: whether this visitor has asked for it and has not stopped it.
        before: how many jobs come before it.
        wait: the estimated seconds until it starts.
        seconds_left: the estimated seconds that it takes from then on.
        step: the latest step; None before the first.
        problem: why it failed, or why the server stopped it.
        stopping: whether the worker was told to stop it.
    """

    number: int
    state: State
    mine: bool
    before: int
    wait: float
    seconds_left: float
    step: JobStep | None
    problem: str
    stopping: bool

    @property
    def under_way(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")


@dataclass(frozen=True)
class Load:
    """The work of a queue at one moment.

    Attributes:
        running: how many jobs run.
        waiting: how many jobs wait.
        started: whether there is a worker; the first visitor who may need it starts it.
        ready: whether it has finished its imports.
    """

    running: int = 0
    waiting: int = 0
    started: bool = False
    ready: bool = False
