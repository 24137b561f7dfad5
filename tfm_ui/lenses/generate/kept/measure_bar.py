"""The button that measures writing with the cache and without."""

from contextlib import suppress
from functools import partial

import streamlit as st

from tfm_core.profiling.decoding import DecodingProgress, expected_seconds
from tfm_core.profiling.decoding_report import Decoding, DecodingPlan
from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import JobStep
from tfm_ui.lenses.generate.kept.measured import facts, measurements
from tfm_ui.lenses.generate.state import PREFIX
from tfm_ui.page import job_bar, measured_link
from tfm_ui.page.job_bar import Offer, Work
from tfm_ui.store import shared
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.visitor import network_here

LONGEST = 300.0  # estimated seconds: others wait meanwhile
MEASURE = partial(
    Work,
    job="decoding",
    key="generate_decoding",
    icon=":material/timer:",
    doing="Measuring",
    noun="measurement",
)


def draw(plan: DecodingPlan, named: str) -> None:
    """Draw it; the link then names the measurement that is shown, so that it brings back these numbers.

    Args:
        plan: what the button measures.
        named: the measurement that the link asks for.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="line_measure_decoding"):
        work = MEASURE(argument=plan, request=partial(_request, plan))
        job = work.find()
        report = measured_link.follow(measurements, plan, named, job, PREFIX)
        job_bar.draw(work, job, lambda: _offer(work, plan, report, job))


def why_not(plan: DecodingPlan) -> str:
    """Why this is not measured here, in a sentence; "" if it is."""
    seconds = expected_seconds(plan)
    if seconds <= LONGEST:
        return ""
    return f"A model of this size would take about {in_seconds(seconds)}, too long for others who wait."


def _offer(work: Work, plan: DecodingPlan, report: Decoding | None, job: JobStatus | None) -> Offer:
    reason = why_not(plan)
    return Offer(
        label="Measure again" if report else "Measure",
        key="_generate_measure",
        said=facts(report) if report else "" if reason else f"It takes about {in_seconds(expected_seconds(plan))}.",
        warnings=[shared.problem(), job_bar.ended(work, job), reason],
        is_done=report is not None,
        disabled=bool(reason),
    )


def _request(plan: DecodingPlan) -> Request | None:
    if why_not(plan):
        return None
    seconds, then = expected_seconds(plan), partial(_keep, network_here())
    return Request("decoding", plan, seconds=seconds, limit=job_bar.limit_of(seconds), then=then)


def _keep(owner: str, step: JobStep) -> None:
    if isinstance(step, DecodingProgress) and step.report.complete:
        with suppress(StoreAway):  # the page says so
            measurements.keep(step.report, owner)
