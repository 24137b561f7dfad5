"""The button that compares networks."""

from functools import partial

from tfm_core.profiling.units import in_seconds
from tfm_core.training.compare import ComparisonStep
from tfm_core.training.comparison import Comparison
from tfm_core.training.contestants import SEEDS, Unmatched, contestants
from tfm_core.training.outcomes import outcome_store
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import JobStep
from tfm_ui.lenses.training.outcomes import JOB
from tfm_ui.lenses.training.runs import estimate
from tfm_ui.page import job_bar
from tfm_ui.page.job_bar import Offer, Work

LONGEST = 600.0  # estimated seconds: others wait meanwhile
LIMIT = 4.0  # times the estimate, after which it is stopped: it is long, and others wait meanwhile
COMPARE = partial(
    Work,
    job=JOB,
    key="training_compare",
    icon=":material/leaderboard:",
    doing="Comparing",
    noun="comparison",
    wide=520,
)


def draw(task: str) -> None:
    """Draw it in the row above the picture."""
    with job_bar.line("line_compare"):
        work = COMPARE(argument=task, request=partial(_request, task))
        job = work.find()
        job_bar.draw(work, job, lambda: _offer(work, task, job))


def seconds_of(task: str) -> float:
    """How long it takes, by an estimate: what is kept may come from a busy machine.

    Raises:
        Unmatched: if no networks of the task can be compared.
    """
    return len(SEEDS) * sum(estimate(config) for config in contestants(task))


def why_not(task: str) -> str:
    """Why this is not computed here, in a sentence; "" if it is."""
    try:
        seconds = seconds_of(task)
    except Unmatched as problem:
        return f"No networks can be compared here: {problem}."
    if seconds <= LONGEST:
        return ""
    return (
        f"It takes about {in_seconds(seconds)}, too long for others who wait. "
        f"Without the app: python -m tfm_core.training compare {task}"
    )


def before(kept: Comparison | None, seconds: float) -> str:
    """What is told while nothing is under way."""
    runs = f"{sum(len(entry.outcomes) for entry in kept.entries)} runs are kept; again: " if kept else "It takes "
    return f"{runs}about {in_seconds(seconds)}{', too long here' * (seconds > LONGEST)}."


def _offer(work: Work, task: str, job: JobStatus | None) -> Offer:
    kept, reason = outcome_store().find(task), why_not(task)
    return Offer(
        label="Compare again" if kept else "Compare",
        key="_training_compare",
        said=before(kept, seconds_of(task)) if _can_be_compared(task) else "",
        warnings=[job_bar.ended(work, job), outcome_store().problem],
        is_done=kept is not None,
        disabled=bool(reason),
        help=reason or None,
    )


def _can_be_compared(task: str) -> bool:
    try:
        seconds_of(task)
    except Unmatched:
        return False
    return True


def _request(task: str) -> Request | None:
    if why_not(task):
        return None
    seconds = seconds_of(task)
    return Request(JOB, task, seconds=seconds, limit=LIMIT * seconds, then=_keep)


def _keep(step: JobStep) -> None:
    if isinstance(step, ComparisonStep) and step.comparison.is_complete:
        outcome_store().keep(step.comparison)
