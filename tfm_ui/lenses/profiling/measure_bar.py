"""The button that measures, at the end of the row of controls."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import streamlit as st

from tfm_core.profiling import Plan, Progress, Report
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import JobStep
from tfm_ui.lenses.profiling import measure_words
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import limit, needs, refused
from tfm_ui.lenses.profiling.state import PREFIX
from tfm_ui.page import job_bar, measured_link
from tfm_ui.page.job_bar import Offer, Work
from tfm_ui.store import shared
from tfm_ui.store.store import StoreAway
from tfm_ui.text import provenance
from tfm_ui.visitors.visitor import network_here

MEASURE = partial(
    Work,
    job="profile",
    key="profiling",
    icon=":material/timer:",
    doing="Measuring",
    noun="measurement",
    stays="what is done",
    told=measure_words.doing,
)


def draw(plan: Plan | None, named: str, now: Callable[[], Plan | None]) -> None:
    """Draw it; the link then names the measurement that is to be shown, if there is one.

    Args:
        plan: what the button measures; None if there is nothing.
        named: the measurement that the link asks for.
        now: the plan at a press: a text that is being typed applies when the button takes the focus from it.
    """
    with job_bar.line("line_measure"):
        if plan is not None:
            work = MEASURE(argument=plan, request=partial(_request, plan))
            job = work.find()
            report = measured_link.follow(measurements, plan, named, job, PREFIX)
            job_bar.draw(work, job, lambda: _offer(work, plan, report, job, now))
            if not (job and job.under_way) and sessions.mine():
                st.fragment(_elsewhere, run_every=job_bar.REFRESH_SECONDS)(work)


def _offer(
    work: Work, plan: Plan, report: Report | None, job: JobStatus | None, now: Callable[[], Plan | None]
) -> Offer:
    reason, ended = refused(plan), job_bar.ended(work, job, measure_words.left(job, report))
    before = reason or measure_words.before(plan, needs(plan).seconds)
    disturbed = provenance.DISTURBED if report and provenance.is_disturbed(report) else ""
    return Offer(
        label="Measure again" if report else "Measure",
        key="_profiling_measure",
        said=provenance.when(report) if report else before,
        warnings=[shared.problem(), ended, disturbed, reason if report else ""],
        is_done=report is not None,
        disabled=bool(reason),
        press=partial(_start, now),
    )


def _elsewhere(work: Work) -> None:
    """This visitor's other jobs, which go on while they look at something else."""
    others = sessions.mine()
    if not others:
        st.rerun()
    with job_bar.line("measure_other"):
        count = len(others)
        which = "Your other measurement" if count == 1 else f"The first of your {count} other measurements"
        job_bar.stop_button(others[0], work.key)
        job_bar.bar(others[0], f"{which}: {job_bar.progress(work, others[0])}", work.wide)


def _start(now: Callable[[], Plan | None]) -> None:
    if plan := now():
        MEASURE(argument=plan, request=partial(_request, plan)).start()


def _request(plan: Plan) -> Request | None:
    if refused(plan):
        return None
    then = partial(_keep, network_here())
    return Request("profile", plan, seconds=needs(plan).seconds, limit=limit(plan), then=then)


def _keep(owner: str, step: JobStep) -> None:
    if isinstance(step, Progress) and measure_words.worth_keeping(step.report):
        with suppress(StoreAway):  # the page says so
            measurements.keep(step.report, owner)
