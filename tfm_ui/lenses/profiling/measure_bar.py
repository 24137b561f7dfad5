"""The button that measures, and what is told while it does."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape

import streamlit as st

from tfm_core.profiling import Plan, Progress, Report
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import Step
from tfm_ui.lenses.profiling import measure_words, measurements
from tfm_ui.lenses.profiling.plan import limit, needs, refused
from tfm_ui.lenses.profiling.state import PREFIX
from tfm_ui.page import controls, job_bar, notices
from tfm_ui.store import shared
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import network_here

JOB = "profile"
# In the session: jobs that it has seen under way; those whose outcome the link holds, or held; and what it last showed
# of each plan.
WATCHED, LINKED, LAST = "_watched", "_linked", "_last_run"
JOIN = "The measurement goes on even if the visitor who started it leaves."
WIDE = 460  # pixels of a bar of progress, so that its words stand in one line


def draw(plan: Plan | None, named: str, now: Callable[[], Plan | None]) -> None:
    """Draw it at the end of the knobs' row; the link then names the measurement that is to be shown, if there is one.

    Args:
        plan: what the button measures; None if there is nothing.
        named: the measurement that the link asks for.
        now: the plan at a press: a text that is being typed applies when the button takes the focus from it.
    """
    report, away = _shown(plan, named), shared.problem()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="line_measure"):
        if plan is not None:
            job = job_bar.watched(sessions.find(JOB, plan), WATCHED)
            if not away:  # else the link keeps its name, which may be known again later
                _link_outcome(plan, job)
                _name_in_link(report, named)
            if job and job.under_way:
                st.fragment(_live, run_every=job_bar.OFTEN)(plan)
            else:
                _idle(plan, report, job, away, now)
                if sessions.mine():
                    st.fragment(_elsewhere, run_every=job_bar.OFTEN)()


def _shown(plan: Plan | None, named: str) -> Report | None:
    """The measurement of this plan that the link names; else the one that this session showed last, or the latest."""
    last: dict[Plan | None, str] = st.session_state.setdefault(LAST, {})
    report = measurements.find(plan, named)
    if report and report.id != named:
        report = measurements.find(plan, last.get(plan, ""))
    if report:
        last[plan] = report.id
    return report


def _name_in_link(report: Report | None, named: str) -> None:
    """The link names what is shown, so that it brings back these numbers and no later ones; and nothing else."""
    shown = report.id if report else ""
    if shown != named:
        if named and not measurements.is_here(named):
            notices.notify(measure_words.forgotten(report))
        controls.set_without_undo(PREFIX, run=shown)
        st.rerun()


def _link_outcome(plan: Plan, job: JobStatus | None) -> None:
    """Put what came of a visitor's job into the link, once it is over; all that follows is drawn anew."""
    linked: set[int] = st.session_state.setdefault(LINKED, set())
    if job is None or job.under_way or job.number in linked:
        return
    linked.add(job.number)
    report = _report(job)
    kept = measurements.find(plan, report.id) if report else None
    if report and kept and kept.id == report.id:
        controls.set_without_undo(PREFIX, run=report.id)
        st.rerun()


def _idle(plan: Plan, report: Report | None, job: JobStatus | None, away: str, now: Callable[[], Plan | None]) -> None:
    """Nothing of this is under way: the button, and in one line what was measured before or went wrong.

    Args:
        plan: what the button measures.
        report: what was measured before.
        job: how the visitor's last measurement ended.
        away: why measurements cannot be looked up now, in a sentence; "" if they can.
        now: the plan at a press.
    """
    reason = refused(plan)
    st.button(
        "Measure again" if report else "Measure",
        on_click=_ask_now,
        args=(now,),
        type="secondary" if report else "primary",
        icon=":material/timer:",
        disabled=bool(reason),
        key="_profiling_measure",
    )
    warnings = [
        away,
        measure_words.ended(job, report),
        measure_words.DISTURBED if report and measure_words.is_shared(report) else "",
        reason if report else "",
    ]
    before = reason or measure_words.before(plan, needs(plan).seconds)
    said = measure_words.when(report) if report else before
    _beside_button([*(f"⚠ {warning}" for warning in warnings if warning), said])


def _beside_button(said: Sequence[str]) -> None:
    """Show the sentences in two lines at most, because the row above the picture has one height."""
    spans = "".join(f"<span>{escape(text)}</span> " for text in said)
    st.html(f'<p class="facts">{spans}</p>')


def _live(plan: Plan) -> None:
    """What is under way: again and again, until it is over; then the page shows what came out."""
    job = sessions.find(JOB, plan)
    if job is None or not job.under_way:
        st.rerun()
    words = measure_words.progress(job)
    job_bar.draw(job, words, join=_ask, what=plan, about=JOIN, key="profiling", wide=WIDE)


def _elsewhere() -> None:
    """This visitor's other jobs, which go on while they look at something else."""
    others = sessions.mine()
    if not others:
        st.rerun()
    with _line("measure_other"):
        count = len(others)
        which = "Your other measurement" if count == 1 else f"The first of your {count} other measurements"
        _stop(others[0])
        _progress(others[0], f"{which}: ")


def _line(key: str) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key=key)


def _progress(job: JobStatus, before: str = "") -> None:
    share = job.step.share if job.step and job.state == "running" else 0.0
    st.progress(min(max(share, 0.0), 1.0), escape_markdown(before + measure_words.progress(job)), width=WIDE)


def _stop(job: JobStatus) -> None:
    st.button(
        "Stop",
        on_click=sessions.stop,
        args=(job.number,),
        icon=":material/stop:",
        disabled=job.stopping,
        key=f"_profiling_stop_{job.number}",
    )


def _ask_now(now: Callable[[], Plan | None]) -> None:
    if plan := now():
        _ask(plan)


def _ask(plan: Plan) -> None:
    if refused(plan):
        return
    keep = partial(_keep, network_here())
    request = Request(JOB, plan, seconds=needs(plan).seconds, limit=limit(plan), then=keep)
    job_bar.submit(request, WATCHED)


def _keep(owner: str, step: Step) -> None:
    if isinstance(step, Progress) and measure_words.worth_keeping(step.report):
        with suppress(StoreAway):  # the page says so
            measurements.keep(step.report, owner)


def _report(job: JobStatus) -> Report | None:
    return job.step.report if isinstance(job.step, Progress) else None
