"""How much may wait in front of the server's one worker: of a visitor, behind one address, and in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tfm_ui.jobs.job import Job, Refused


@dataclass(frozen=True)
class Cap:
    """The most that may wait at once, not counting what runs.

    Attributes:
        jobs: how many.
        seconds: that they will take together, an estimate. A single job may exceed it.
        whose: "wait" follows.
        helps: what one can do about it, a sentence.
    """

    jobs: int
    seconds: float
    whose: str
    helps: str

    def check(self, waiting: Sequence[Job], seconds: float) -> None:
        """Whether one more, which takes so long, may wait beside these.

        Raises:
            Refused: with what is full, and what helps.
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


LATER = "Try again when some of them are done; what is waiting already can be joined."
# Two of the longest measurements that the Profiling lens lets in.
OF_VISITOR = Cap(3, 360, "{} of yours", "Wait for one of them, stop it, or ask for something shorter.")
# Cookies can be invented, so this bounds one attacker; a class behind its school's address has a job each.
OF_ADDRESS = Cap(32, 2400, "{} from your network", LATER)
# Nobody waits longer than this, with what runs; and one address leaves a third of it to the others.
IN_ALL = Cap(40, 3600, "{} of all visitors", LATER)
