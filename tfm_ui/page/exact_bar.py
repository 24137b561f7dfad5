"""The button that computes all of what a view shows a part of, the same for all such views."""

from functools import partial

import streamlit as st

from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs.exact import keep
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.live.exact import Exact
from tfm_ui.page import controls, job_bar
from tfm_ui.page.job_bar import Offer, Work
from tfm_ui.store import shared
from tfm_ui.visitors.visitor import network_here

# In the session: jobs whose outcome was shown; names of results in links that were not there.
LINKED, MISSED = "_linked_exact_jobs", "_missed_exact"


def draw(exact: Exact, named: str, prefix: str) -> None:
    """Draw it, below the picture; once all is computed, the link names it, so that it brings the same picture back.

    Args:
        exact: what the button computes.
        named: the result that the link asks for, the lens's field `whole`.
        prefix: the lens's.
    """
    away, kept = shared.problem(), exact.is_kept
    work = Work(
        job=exact.job,
        argument=exact.argument,
        request=partial(_request, exact, prefix),
        key=f"all_of_{exact.job}",
        icon=":material/select_all:",
        doing="Computing",
        noun="computation",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"line_all_of_{exact.job}"):
        job = work.find()
        if not away:
            _name_in_link(exact, named, prefix, job, kept=kept)
        offer = partial(_show_or_hide, exact, named, prefix) if kept else partial(_offer, exact, work, job, away)
        job_bar.draw(work, job, offer)


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


def _show_or_hide(exact: Exact, named: str, prefix: str) -> Offer:
    """All is there: the button shows it, or a part again."""
    shown = exact.is_named(named)
    return Offer(
        label="Show a part again" if shown else "Show all of it",
        key=f"_show_all_of_{exact.job}",
        said="All of it was computed and is shown." if shown else "All of it is there: somebody has computed it.",
        is_done=True,
        press=partial(controls.change, prefix, whole="" if shown else exact.new_name()),
    )


def _offer(exact: Exact, work: Work, job: JobStatus | None, away: str) -> Offer:
    """Nothing of this is there: how long it takes, or why it is not computed."""
    reason = exact.why_not
    return Offer(
        label="Compute all of it",
        key=f"_compute_all_of_{exact.job}",
        said=reason or f"It takes about {in_seconds(exact.seconds)}.",
        warnings=[away, job_bar.ended(work, job)],
        is_done=True,  # a part is on the screen
        disabled=bool(reason or away),
    )


def _request(exact: Exact, prefix: str) -> Request | None:
    if exact.is_kept:  # another tab was quicker, since this one was drawn: nobody waits for the same again
        controls.change(prefix, whole=exact.new_name())
        return None
    if exact.why_not:
        return None
    then = partial(keep, exact.key, network_here())
    limit = job_bar.limit_of(exact.seconds)
    return Request(exact.job, exact.argument, seconds=exact.seconds, limit=limit, then=then)
