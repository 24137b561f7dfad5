"""The button that measures writing with the cache and without, and what is told while it does."""

from contextlib import suppress
from functools import partial
from html import escape

import streamlit as st

from tfm_core.profiling.decoding import DecodingProgress, expected_seconds
from tfm_core.profiling.decoding_report import Decoding, DecodingPlan
from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import Step
from tfm_ui.lenses.generate.kept import measured
from tfm_ui.lenses.generate.state import PREFIX
from tfm_ui.page import controls, job_bar
from tfm_ui.store import shared
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats
from tfm_ui.visitors.visitor import network_here

JOB = "decoding"
WATCHED, LINKED = "_decodings", "_linked_decodings"  # in the session: jobs seen under way, and jobs that the link holds
JOIN = "The measurement goes on even if the visitor who started it leaves."
WIDE = 460  # pixels of a bar of progress, so that its words stand in one line
LONGEST = 300.0  # estimated seconds: others wait meanwhile
LIMIT = 6.0  # times the estimate, after which it is stopped: a busy machine takes two or three times as long


def draw(plan: DecodingPlan, named: str) -> None:
    """Draw it; the link then names the measurement that is shown, so that it brings back these numbers.

    Args:
        plan: what the button measures.
        named: the measurement that the link asks for.
    """
    away, report = shared.problem(), measured.find(plan, named)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="line_measure_decoding"):
        job = job_bar.watched(sessions.find(JOB, plan), WATCHED)
        if not away:
            _name_in_link(plan, report, named, job)
        if job and job.under_way:
            st.fragment(_live, run_every=job_bar.OFTEN)(plan)
        else:
            _idle(plan, report, job, away)


def why_not(plan: DecodingPlan) -> str:
    """Why this is not measured here, in a sentence; "" if it is."""
    seconds = expected_seconds(plan)
    if seconds <= LONGEST:
        return ""
    return f"A model of this size would take about {in_seconds(seconds)}, too long for others who wait."


def _name_in_link(plan: DecodingPlan, report: Decoding | None, named: str, job: JobStatus | None) -> None:
    """The link names what has just been measured; else what it asks for, or the latest there is of this shape."""
    linked: set[int] = st.session_state.setdefault(LINKED, set())
    shown = report.id if report else ""
    if job and not job.under_way and job.number not in linked:
        linked.add(job.number)
        if isinstance(job.step, DecodingProgress) and measured.find(plan, job.step.report.id):
            shown = job.step.report.id
    if shown != named:
        controls.set_without_undo(PREFIX, run=shown)
        st.rerun()


def _idle(plan: DecodingPlan, report: Decoding | None, job: JobStatus | None, away: str) -> None:
    """Nothing of this is under way: the button, and in one line what was measured before or went wrong."""
    reason = why_not(plan)
    st.button(
        "Measure again" if report else "Measure",
        on_click=_ask,
        args=(plan,),
        type="secondary" if report else "primary",
        icon=":material/timer:",
        disabled=bool(reason),
        key="_generate_measure",
    )
    ended = ""
    if job and job.state in ("stopped", "failed"):
        ended = f"{job.problem or 'Stopped.'} A measurement that has not come to its end is not kept."
    said = measured.facts(report) if report else f"It takes about {in_seconds(expected_seconds(plan))}."
    parts = [*(f"⚠ {text}" for text in (away, ended, reason) if text), said]
    spans = "".join(f"<span>{escape(text)}</span> " for text in parts)
    st.html(f'<p class="facts">{spans}</p>')


def _live(plan: DecodingPlan) -> None:
    """What is under way: again and again, until it is over; then the page shows what came out."""
    job = sessions.find(JOB, plan)
    if job is None or not job.under_way:
        st.rerun()
    job_bar.draw(job, progress(job), join=_ask, what=plan, about=JOIN, key="generate_decoding", wide=WIDE)


def progress(job: JobStatus) -> str:
    """What is told of a measurement that is under way."""
    if job.stopping:
        return "Stopping."
    if job.state == "waiting":
        before = f"{formats.plural(job.before, 'job')} before it; it" if job.before else "It"
        return f"{before} starts in about {in_seconds(job.wait)}."
    if job.step is None:
        return "It begins."
    return f"{job.step.doing[:1].upper()}{job.step.doing[1:]}; about {in_seconds(job.step.seconds_left)} left."


def _ask(plan: DecodingPlan) -> None:
    if why_not(plan):
        return
    seconds, keep = expected_seconds(plan), partial(_keep, network_here())
    job_bar.submit(Request(JOB, plan, seconds=seconds, limit=LIMIT * seconds, then=keep), WATCHED)


def _keep(owner: str, step: Step) -> None:
    if isinstance(step, DecodingProgress) and step.report.complete:
        with suppress(StoreAway):  # the page says so
            measured.keep(step.report, owner)
