"""Caps: how much work may wait for the server's one worker, for each visitor, for each address, and in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tfm_ui.jobs.job import Job, Refused


@dataclass(frozen=True)
class Cap:
    """The most that may wait at the same time, not counting the running job.

    Attributes:
        jobs: the number of jobs.
        seconds: the estimated duration of all of them together. A single job may exceed it.
        whose: the jobs in words, with {} for "job" or "jobs": the beginning of a sentence.
        helps: a sentence that says what the visitor can do when the cap is reached.
    """

    jobs: int
    seconds: float
    whose: str
    helps: str

    def check(self, waiting: Sequence[Job], seconds: float) -> None:
        """Check that one more job, of this duration, may wait in addition to these.

        Raises:
            Refused: if it may not; the message says what is full, and what the visitor can do.
        """
        count, taken = len(waiting), sum(job.request.seconds for job in waiting)
        if count >= self.jobs:
            raise Refused(f"{self._many(count)} waiting already, the most that there may be. {self.helps}")
        if waiting and taken + seconds > self.seconds:
            raise Refused(
                f"{self._many(count)} waiting already, {_minutes(taken)} of work; with this one it would be "
                f"{_minutes(taken + seconds)}, and {_minutes(self.seconds)} is the most. {self.helps}"
            )

    def _many(self, count: int) -> str:
        return f"{count} {self.whose.format('job' if count == 1 else 'jobs')} {'is' if count == 1 else 'are'}"


def _minutes(seconds: float) -> str:
    return f"{ceil(seconds / 60)} min"


LATER = "Try again when some of them are done. You can still ask for a measurement that waits already."
# Two of the longest measurements that the Profiling lens accepts.
OF_VISITOR = Cap(3, 360, "{} of yours", "Wait for one of them, stop it, or ask for something shorter.")
# A program can invent cookies, so this cap limits one attacker; it leaves a job for each pupil of a class that shares
# its school's address.
OF_ADDRESS = Cap(32, 2400, "{} from your network", LATER)
# Nobody waits longer than this plus the running job; and one address leaves a third of it to the others.
IN_ALL = Cap(40, 3600, "{} of all visitors", LATER)
