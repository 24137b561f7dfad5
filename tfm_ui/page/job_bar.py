"""What a lens draws of heavy work that is under way, the same for all: Stop or Join, and a bar of progress."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Refused, Request
from tfm_ui.page import notices
from tfm_ui.text.markdown import escape_markdown

OFTEN = 0.5  # seconds between two looks at what is under way


def watched(job: JobStatus | None, seen_in: str) -> JobStatus | None:
    """A job that this session has seen under way: how another one ended is nothing that happened on this page.

    Args:
        job: any, or none.
        seen_in: the key of the session state that holds the numbers of such jobs.
    """
    numbers: set[int] = st.session_state.setdefault(seen_in, set())
    if job and job.under_way:
        numbers.add(job.number)
    return job if job and job.number in numbers else None


def draw(
    job: JobStatus, words: str, *, join: Callable[[Any], None], what: Any, about: str, key: str, wide: int
) -> None:
    """Draw a job that is under way, in one line.

    Args:
        job: the job.
        words: how far it is.
        join: called with `what` when a visitor joins those who wait for it.
        what: the job's argument.
        about: what joining means.
        key: begins the keys of the buttons.
        wide: the width of the bar in pixels, so that its words stand in one line.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key=f"{key}_line"):
        if job.mine or job.stopping:
            st.button(
                "Stop",
                on_click=sessions.stop,
                args=(job.number,),
                icon=":material/stop:",
                disabled=job.stopping,
                key=f"_{key}_stop_{job.number}",
            )
        else:
            st.button("Join", on_click=join, args=(what,), help=about, key=f"_{key}_join")
        share = job.step.share if job.step and job.state == "running" else 0.0
        st.progress(min(max(share, 0.0), 1.0), escape_markdown(words), width=wide)


def submit(request: Request, seen_in: str) -> None:
    """Ask for a job; if it is refused, a notice says why. Only to be called in a callback."""
    try:
        st.session_state.setdefault(seen_in, set()).add(sessions.submit(request))
    except Refused as reason:
        notices.notify(str(reason))
        st.rerun()  # all of the page: notices stand at its top
