"""The link of a page names the measurement that is on screen, so that it brings back these very numbers."""

from typing import Any

import streamlit as st

from tfm_ui.jobs.job import JobStatus
from tfm_ui.live.measurements import Measurements, R
from tfm_ui.page import controls, notices
from tfm_ui.store import shared

# In the session: jobs whose outcome the link holds, or held; and what it last showed of each plan.
LINKED, LAST = "_linked_measurements", "_last_measurements"


def follow(kept: Measurements[R], plan: Any, named: str, job: JobStatus | None, prefix: str) -> R | None:
    """The measurement that is shown; once there is another one, the link names it, and the page runs again.

    Args:
        kept: where it is looked up.
        plan: what is to be measured.
        named: the measurement that the link asks for, the lens's field `run`.
        job: that measures the plan, or has.
        prefix: the lens's.
    """
    report = _shown(kept, plan, named)
    if not shared.problem():  # else the link keeps its name, which may be known again later
        shown = _outcome(kept, plan, job) or (report.id if report else "")
        if shown != named:
            if named and not kept.has(named):
                notices.notify(forgotten(has_another=report is not None))
            controls.set_without_undo(prefix, run=shown)
            st.rerun()
    return report


def forgotten(*, has_another: bool) -> str:
    """A sentence for a link whose measurement this server does not have."""
    instead = " This is the latest one of the same settings." if has_another else ""
    return f"The measurement that the link names is not on this server.{instead}"


def _shown(kept: Measurements[R], plan: Any, named: str) -> R | None:
    """The measurement of this plan that the link names; else the one that this session showed last, or the latest."""
    last: dict[Any, str] = st.session_state.setdefault(LAST, {})
    report = kept.find(plan, named)
    if report and report.id != named:
        report = kept.find(plan, last.get(plan, ""))
    if report:
        last[plan] = report.id
    return report


def _outcome(kept: Measurements[R], plan: Any, job: JobStatus | None) -> str:
    """The name of what has just been measured, once; "" if nothing has, or nothing of it is kept."""
    linked: set[int] = st.session_state.setdefault(LINKED, set())
    if job is None or job.under_way or job.number in linked:
        return ""
    linked.add(job.number)
    made = getattr(job.step, "report", None)
    report = kept.find(plan, made.id) if made else None
    return report.id if made and report and report.id == made.id else ""
