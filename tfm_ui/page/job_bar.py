"""The button of a page that starts heavy work, the same for all kinds, and what is told before, meanwhile and after."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Refused, Request
from tfm_ui.page import notices
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

REFRESH_SECONDS = 0.5  # seconds between two looks at what is under way
LIMIT = 6.0  # times its estimate, after which a job is stopped: a busy machine takes two or three times as long
PATIENCE = 30.0  # seconds that the shortest job may take
WATCHED = "_watched_jobs"  # in the session: the numbers of jobs that it has seen under way


def limit_of(seconds: float) -> float:
    """The seconds after which a job with this estimate is stopped."""
    return max(PATIENCE, LIMIT * seconds)


def _doing(step: Any) -> str:
    return str(step.doing)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work that a page may ask for, with the words for it. A lens makes a `partial` of it for each kind of its jobs.

    Attributes:
        job: its name in the table of jobs.
        argument: the job's.
        request: makes the request for it, in a callback; None if it must not be started, or is there already.
        key: begins the keys of its buttons.
        icon: of the button that starts it.
        doing: what the server does with it, such as "Measuring".
        noun: what it is, such as "measurement".
        stays: what stays where it is stopped, in words; "" if nothing does.
        wide: the width of its bar of progress in pixels, so that its words stand in one line.
        told: what is told of a step.
    """

    job: str
    argument: Hashable
    request: Callable[[], Request | None]
    key: str
    icon: str
    doing: str
    noun: str
    stays: str = ""
    wide: int = 460
    told: Callable[[Any], str] = _doing

    def find(self) -> JobStatus | None:
        """The job, whoever asked for it, if this session has seen it under way: how another one ended is no news."""
        watched: set[int] = st.session_state.setdefault(WATCHED, set())
        job = sessions.find(self.job, self.argument)
        if job and job.under_way:
            watched.add(job.number)
        return job if job and job.number in watched else None

    def start(self) -> None:
        """Ask for the job; if it is refused, a notice says why. Only to be called in a callback."""
        if not (request := self.request()):
            return
        try:
            st.session_state.setdefault(WATCHED, set()).add(sessions.submit(request))
        except Refused as reason:
            notices.notify(str(reason))
            st.rerun()  # all of the page: notices stand at its top


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What stands where no such job is under way: a button, and beside it what there is, or what went wrong.

    Attributes:
        label: of the button.
        key: the button's.
        said: a sentence beside it.
        warnings: sentences before that one; empty ones are left out.
        is_done: whether the work is done, so that the button calls for nothing.
        disabled: whether it cannot be pressed.
        help: what a pointer is told.
        press: called in a callback in place of starting the work.
    """

    label: str
    key: str
    said: str
    warnings: Sequence[str] = ()
    is_done: bool = False
    disabled: bool = False
    help: str | None = None
    press: Callable[[], None] | None = None


def draw(work: Work, job: JobStatus | None, offer: Callable[[], Offer]) -> None:
    """Draw it.

    Args:
        work: what the button starts.
        job: what `work.find` has found.
        offer: makes what stands where the job is not under way.
    """
    if job and job.under_way:
        st.fragment(_live, run_every=REFRESH_SECONDS)(work)
    else:
        _idle(work, offer())


def _idle(work: Work, offer: Offer) -> None:
    st.button(
        offer.label,
        on_click=offer.press or work.start,
        type="secondary" if offer.is_done else "primary",
        icon=work.icon,
        disabled=offer.disabled,
        help=offer.help,
        key=offer.key,
    )
    sentences = [*(f"⚠ {text}" for text in offer.warnings if text), offer.said]
    spans = "".join(f"<span>{escape(text)}</span> " for text in sentences if text)
    st.html(f'<p class="facts">{spans}</p>')  # two lines at most, because a row above a picture has one height


def _live(work: Work) -> None:
    """What is under way: again and again, until it is over; then the page shows what came out."""
    job = sessions.find(work.job, work.argument)
    if job is None or not job.under_way:
        st.rerun()
    with line(f"{work.key}_line"):
        if job.mine or job.stopping:
            stop_button(job, work.key)
        else:
            about = f"The {work.noun} goes on even if the visitor who started it leaves."
            st.button("Join", on_click=work.start, help=about, key=f"_{work.key}_join")
        bar(job, progress(work, job), work.wide)


def line(key: str) -> Any:
    """A container for a line that does not wrap."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key=key)


def stop_button(job: JobStatus, key: str) -> None:
    """The button that stops a job; `key` begins its key."""
    st.button(
        "Stop",
        on_click=sessions.stop,
        args=(job.number,),
        icon=":material/stop:",
        disabled=job.stopping,
        key=f"_{key}_stop_{job.number}",
    )


def bar(job: JobStatus, words: str, wide: int) -> None:
    """The bar of progress, with these words."""
    share = job.step.share if job.step and job.state == "running" else 0.0
    st.progress(min(max(share, 0.0), 1.0), escape_markdown(words), width=wide)


def progress(work: Work, job: JobStatus) -> str:
    """What is told of a job that is under way."""
    if job.stopping:
        return f"Stopping: {work.stays} stays." if work.stays else "Stopping."
    if job.state == "waiting":
        asked = "" if job.mine else "Someone has asked for this. "
        if not job.before:
            return f"{asked}It starts in a moment."
        return f"{asked}{formats.plural(job.before, 'job')} before it; it starts in about {in_seconds(job.wait)}."
    who = work.doing if job.mine else f"Someone is {work.doing.lower()} this now"
    doing = work.told(job.step) if job.step else "it begins"
    return f"{who}: {doing}; about {in_seconds(job.seconds_left)} left."


def ended(work: Work, job: JobStatus | None, then: str | None = None) -> str:
    """How this visitor's last job ended, where it did not come to its end; "" if it did.

    Args:
        work: what it was.
        job: that job, or none.
        then: what becomes of what was done, in a sentence, or "" where that is told anyhow; by default it is lost.
    """
    if job is None or job.state not in ("stopped", "failed"):
        return ""
    if then is None:
        came_to_its_end = job.step is not None and job.step.share == 1  # and could not be kept
        then = "" if came_to_its_end else f"A {work.noun} that has not come to its end is not kept."
    return f"{job.problem or 'Stopped.'} {then}".strip()
