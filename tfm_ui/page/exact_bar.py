"""The button that computes all of what a view shows a part of, the same for all such views, and what is told of it."""

from functools import partial
from html import escape

import streamlit as st

from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs import sessions
from tfm_ui.jobs.exact import keep
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.live.exact import Exact
from tfm_ui.page import controls, job_bar
from tfm_ui.store import shared
from tfm_ui.text import formats
from tfm_ui.visitors.visitor import network_here

# In the session: jobs seen under way, and shown afterwards; names of results in links that were not there.
WATCHED, LINKED, MISSED = "_exact_jobs", "_linked_exact_jobs", "_missed_exact"
JOIN = "It goes on even if the visitor who started it leaves."
WIDE = 380  # pixels of a bar of progress, so that its words stand in one line
LIMIT = 6.0  # times the estimate, after which it is stopped: a busy machine takes two or three times as long
PATIENCE = 30.0  # seconds that the shortest may take


def draw(exact: Exact, named: str, prefix: str) -> None:
    """Draw it, below the picture; once all is computed, the link names it, so that it brings the same picture back.

    Args:
        exact: what the button computes.
        named: the result that the link asks for, the lens's field `whole`.
        prefix: the lens's.
    """
    away, kept = shared.problem(), exact.is_kept
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"line_all_of_{exact.job}"):
        job = job_bar.watched(sessions.find(exact.job, exact.argument), WATCHED)
        if not away:
            _name_in_link(exact, named, prefix, job, kept=kept)
        if job and job.under_way:
            st.fragment(_live, run_every=job_bar.OFTEN)(exact, prefix)
        elif kept:
            _show_or_hide(exact, named, prefix)
        else:
            _offer(exact, prefix, job, away)


def progress(job: JobStatus) -> str:
    """What is told of a job that is under way."""
    if job.stopping:
        return "Stopping."
    if job.state == "waiting":
        before = f"{formats.plural(job.before, 'job')} before it; it" if job.before else "It"
        return f"{before} starts in about {in_seconds(job.wait)}."
    if job.step is None:
        return "It begins."
    return f"{job.step.doing[:1].upper()}{job.step.doing[1:]}; about {in_seconds(job.step.seconds_left)} left."


def _name_in_link(exact: Exact, named: str, prefix: str, job: JobStatus | None, *, kept: bool) -> None:
    """The link names what has just been computed, and nothing of other settings."""
    linked: set[int] = st.session_state.setdefault(LINKED, set())
    missed: set[str] = st.session_state.setdefault(MISSED, set())
    name = named if exact.is_named(named) else ""
    if name and not kept:
        missed.add(name)
    elif name in missed:  # somebody else has computed it: the pictures of this name are still of a part
        name = exact.new_name()
    if job and not job.under_way and job.number not in linked:
        linked.add(job.number)
        if kept:
            name = exact.new_name()
    if name != named:
        controls.set_without_undo(prefix, whole=name)
        st.rerun()


def _show_or_hide(exact: Exact, named: str, prefix: str) -> None:
    """All is there: the button shows it, or a part again."""
    shown = exact.is_named(named)
    st.button(
        "Show a part again" if shown else "Show all of it",
        on_click=controls.change,
        args=(prefix,),
        kwargs={"whole": "" if shown else exact.new_name()},
        icon=":material/select_all:",
        key=f"_show_all_of_{exact.job}",
    )
    said = "All of it was computed and is shown." if shown else "All of it is there: somebody has computed it."
    st.html(f'<p class="facts"><span>{said}</span></p>')


def _offer(exact: Exact, prefix: str, job: JobStatus | None, away: str) -> None:
    """Nothing of this is under way: the button, and in one line how long it takes, or what went wrong."""
    reason = exact.why_not
    st.button(
        "Compute all of it",
        on_click=_ask,
        args=(prefix, exact),
        icon=":material/select_all:",
        disabled=bool(reason or away),
        key=f"_compute_all_of_{exact.job}",
    )
    ended = ""
    if job and job.state in ("stopped", "failed"):
        came_to_its_end = job.step is not None and job.step.share == 1
        ended = job.problem or "Stopped."
        ended += "" if came_to_its_end else " What has not come to its end is not kept."
    said = [*(f"⚠ {text}" for text in (away, ended) if text), reason or f"It takes about {in_seconds(exact.seconds)}."]
    spans = "".join(f"<span>{escape(text)}</span> " for text in said)
    st.html(f'<p class="facts">{spans}</p>')


def _live(exact: Exact, prefix: str) -> None:
    """What is under way: again and again, until it is over; then the page shows what came out."""
    job = sessions.find(exact.job, exact.argument)
    if job is None or not job.under_way:
        st.rerun()
    join = partial(_ask, prefix)
    job_bar.draw(job, progress(job), join=join, what=exact, about=JOIN, key=f"all_of_{exact.job}", wide=WIDE)


def _ask(prefix: str, exact: Exact) -> None:
    if exact.is_kept:  # another tab was quicker, since this one was drawn: nobody waits for the same again
        controls.change(prefix, whole=exact.new_name())
        return
    if exact.why_not:
        return
    limit = max(PATIENCE, LIMIT * exact.seconds)
    then = partial(keep, exact.key, network_here())
    job_bar.submit(Request(exact.job, exact.argument, seconds=exact.seconds, limit=limit, then=then), WATCHED)
