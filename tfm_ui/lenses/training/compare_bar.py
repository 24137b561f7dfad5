"""The button that compares networks, and what is told while it does."""

from html import escape

import streamlit as st

from tfm_core.training.compare import Compared
from tfm_core.training.comparison import Comparison
from tfm_core.training.contestants import SEEDS, Unmatched, contestants
from tfm_core.training.outcomes import OUTCOMES
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import Step
from tfm_ui.lenses.training.outcomes import JOB
from tfm_ui.lenses.training.runs import estimate
from tfm_ui.page import job_bar
from tfm_ui.text import formats

WIDE = 380  # pixels of a bar of progress, so that its words stand in one line
LONGEST = 600.0  # estimated seconds: others wait meanwhile
SHORT = 90.0  # seconds; more is told in minutes
LIMIT = 4.0  # times the estimate, after which it is stopped
JOIN = "The comparison goes on even if the visitor who started it leaves."
WATCHED = "_comparisons"  # in the session: jobs that it has seen under way


def draw(task: str) -> None:
    """Draw it in the row above the picture."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="line_compare"):
        job = job_bar.watched(sessions.find(JOB, task), WATCHED)
        if job and job.under_way:
            st.fragment(_live, run_every=job_bar.OFTEN)(task)
        else:
            _idle(task, job)


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
        f"It takes {_about(seconds)}, too long for others who wait. "
        f"Without the app: python -m tfm_core.training compare {task}"
    )


def before(kept: Comparison | None, seconds: float) -> str:
    """What is told while nothing is under way."""
    runs = f"{sum(len(entry.outcomes) for entry in kept.entries)} runs are kept; again: " if kept else "It takes "
    return f"{runs}{_about(seconds)}{', too long here' * (seconds > LONGEST)}."


def progress(job: JobStatus) -> str:
    """What is told of a comparison that is under way."""
    if job.stopping:
        return "Stopping."
    if job.state == "waiting":
        wait = formats.duration(1000 * job.wait)
        return f"{formats.plural(job.before, 'job')} before it; it starts in about {wait}."
    if job.step is None:
        return "It begins."
    return f"{job.step.doing[:1].upper()}{job.step.doing[1:]}; {_about(job.step.seconds_left)} left."


def _idle(task: str, job: JobStatus | None) -> None:
    """Nothing is under way: the button, and in one line what there is or went wrong."""
    kept, reason = OUTCOMES.find(task), why_not(task)
    st.button(
        "Compare again" if kept else "Compare",
        on_click=_ask,
        args=(task,),
        type="secondary" if kept else "primary",
        icon=":material/leaderboard:",
        disabled=bool(reason),
        help=reason or None,
        key="_training_compare",
    )
    ended = job.problem or "Stopped before its end: what was there before stays." if _is_broken(job) and job else ""
    warnings = [f"⚠ {text}" for text in (ended, OUTCOMES.problem) if text]
    said = before(kept, seconds_of(task)) if not warnings and _can_be_compared(task) else ""
    spans = "".join(f"<span>{escape(text)}</span> " for text in [*warnings, said] if text)
    st.html(f'<p class="facts">{spans}</p>')


def _can_be_compared(task: str) -> bool:
    try:
        seconds_of(task)
    except Unmatched:
        return False
    return True


def _about(seconds: float) -> str:
    """A rounded duration: about 40 s; about 5 min."""
    return f"about {round(seconds)} s" if seconds < SHORT else f"about {round(seconds / 60)} min"


def _is_broken(job: JobStatus | None) -> bool:
    return job is not None and job.state in ("stopped", "failed")


def _live(task: str) -> None:
    """What is under way: again and again, until it is over; then the page shows what came out."""
    job = sessions.find(JOB, task)
    if job is None or not job.under_way:
        st.rerun()
    job_bar.draw(job, progress(job), join=_ask, what=task, about=JOIN, key="training_compare", wide=WIDE)


def _ask(task: str) -> None:
    if why_not(task):
        return
    seconds = seconds_of(task)
    job_bar.submit(Request(JOB, task, seconds=seconds, limit=LIMIT * seconds, then=_keep), WATCHED)


def _keep(step: Step) -> None:
    if isinstance(step, Compared) and step.comparison.is_complete:
        OUTCOMES.keep(step.comparison)
