"""Caps: how much work may wait for the server's one worker, for each visitor, for each address, and in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tfm_ui.jobs.job import Job, Refused, Request
from tfm_ui.settings import SETTINGS


@dataclass(frozen=True)
class Cap:
    """The most that may wait at the same time, not counting the running job.

    Attributes:
        jobs: the number of jobs.
        seconds: the estimated duration of all of them together. A single job may exceed it.
        whose: the jobs in words, with {} for "job" or "jobs": the beginning of a sentence.
        advice: a sentence that says what the visitor can do when the cap is reached.
        jobs_lowered_by: names the server's setting if it allows fewer jobs than usual; else "".
        time_lowered_by: names the server's setting if it allows shorter jobs than usual; else "".
    """

    jobs: int
    seconds: float
    whose: str
    advice: str
    jobs_lowered_by: str = ""
    time_lowered_by: str = ""

    def check(self, waiting: Sequence[Job], seconds: float) -> None:
        """Check that one more job, of this duration, may wait in addition to these.

        Raises:
            Refused: if it may not; the message says what is full, and what the visitor can do.
        """
        count, taken = len(waiting), sum(job.request.seconds for job in waiting)
        if count >= self.jobs:
            most = f"the most that there may be{self.jobs_lowered_by}"
            raise Refused(f"{self._many(count)} waiting already, {most}. {self.advice}")
        if waiting and taken + seconds > self.seconds:
            most = f"{_minutes(self.seconds)} is the most{self.time_lowered_by}"
            raise Refused(
                f"{self._many(count)} waiting already, {_minutes(taken)} of work; with this one it would be "
                f"{_minutes(taken + seconds)}, and {most}. {self.advice}"
            )

    def _many(self, count: int) -> str:
        return f"{count} {self.whose.format('job' if count == 1 else 'jobs')} {'is' if count == 1 else 'are'}"


def _minutes(seconds: float) -> str:
    return f"{ceil(seconds / 60)} min"


def cap(jobs: str, seconds: str, whose: str, advice: str) -> Cap:
    """The cap with these two settings, by their fields."""
    by = map(SETTINGS.lowered_by, (jobs, seconds))
    return Cap(getattr(SETTINGS, jobs), getattr(SETTINGS, seconds), whose, advice, *by)


def check_duration(request: Request) -> None:
    """Check that one job is not too long for this server.

    Raises:
        Refused: if it is; the message says how long it would be, and what the most is.
    """
    if request.seconds > SETTINGS.job_seconds:
        most = f"{SETTINGS.job_seconds} seconds are the most for one job{SETTINGS.lowered_by('job_seconds')}"
        raise Refused(f"It would take about {request.seconds:.0f} seconds; {most}. Ask for something shorter.")


def longest(request: Request) -> tuple[float, str]:
    """The seconds after which a job is stopped, and what they are, in words."""
    limit = min(request.limit, SETTINGS.job_seconds)
    by = SETTINGS.lowered_by("job_seconds") if limit < request.limit else ""
    return limit, f"the longest that a job may take{by}"


LATER = "Try again when some of them are done. You can still ask for a measurement that waits already."
# At first two of the longest measurements that the Profiling lens accepts.
OF_VISITOR = cap(
    "jobs_per_visitor",
    "job_time_per_visitor",
    "{} of yours",
    "Wait for one of them, stop it, or ask for something shorter.",
)
# A program can invent cookies, so this cap limits one attacker; it leaves a job for each pupil of a class that shares
# its school's address.
OF_ADDRESS = cap("jobs_per_address", "job_time_per_address", "{} from your network", LATER)
# Nobody waits longer than this plus the running job; and one address leaves a third of it to the others.
IN_ALL = cap("jobs", "job_time", "{} of all visitors", LATER)
