"""The button that trains, and what is told while it does."""

from html import escape

import streamlit as st

from tfm_core import STORE, TrainingConfig
from tfm_core.training.run import Progress, Run
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Refused, Request
from tfm_ui.jobs.messages import Step
from tfm_ui.lenses.training import train_words
from tfm_ui.lenses.training.runs import JOB, estimate
from tfm_ui.page import controls, notices
from tfm_ui.text.markdown import escape_markdown

WIDE = 380  # pixels of a bar of progress, so that its words stand in one line
OFTEN = 0.5  # seconds between two looks at what is under way
LIMIT = 6.0, 30.0  # a run is stopped after so many times its estimate, and never before so many seconds
WATCHED = "_trainings"  # in the session: jobs that it has seen under way


def draw(config: TrainingConfig | None, reason: str) -> None:
    """Draw it in the row above the picture.

    Args:
        config: what the button trains; None if the controls ask for what cannot be.
        reason: why it is not trained here; "" if it is.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="line_train"):
        job = _watched(sessions.find(JOB, config)) if config else None
        if config and job and job.under_way:
            st.fragment(_live, run_every=OFTEN)(config)
        else:
            _idle(config, reason, job)


def _watched(job: JobStatus | None) -> JobStatus | None:
    """A job that this session has seen under way: how another one ended is nothing that happened on this page."""
    watched: set[int] = st.session_state.setdefault(WATCHED, set())
    if job and job.under_way:
        watched.add(job.number)
    return job if job and job.number in watched else None


def _idle(config: TrainingConfig | None, reason: str, job: JobStatus | None) -> None:
    """Nothing is under way: the button, and in one line what there is or went wrong."""
    run = STORE.find(config) if config else None
    beginning = STORE.beginning(config) if config and not (run and run.is_complete) else None
    is_over = run is not None and (run.is_complete or bool(run.problem))
    st.button(
        "Continue" if beginning and beginning.done else "Train",
        on_click=_ask,
        args=(config,),
        type="secondary" if is_over else "primary",
        icon=":material/model_training:",
        disabled=bool(reason) or is_over,
        help="It is trained: another seed, or other settings, make another run." if is_over else None,
        key="_training_train",
    )
    said = reason or train_words.before(config, run, beginning) if config else reason
    warnings = [f"⚠ {text}" for text in (train_words.ended(job), STORE.problem) if text]
    spans = "".join(f"<span>{escape(text)}</span> " for text in [*warnings, said])
    st.html(f'<p class="facts">{spans}</p>')


def _live(config: TrainingConfig) -> None:
    """What is under way: again and again, until it is over; then the page says what came out."""
    job = sessions.find(JOB, config)
    if job is None or not job.under_way:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="train_line"):
        _stop_and_progress(config, job)


def _stop_and_progress(config: TrainingConfig, job: JobStatus) -> None:
    if job.mine or job.stopping:
        st.button(
            "Stop",
            on_click=sessions.stop,
            args=(job.number,),
            icon=":material/stop:",
            disabled=job.stopping,
            key=f"_training_stop_{job.number}",
        )
    else:
        about = "The training goes on even if the visitor who started it leaves."
        st.button("Join", on_click=_ask, args=(config,), help=about, key="_training_join")
    share = job.step.share if job.step and job.state == "running" else 0.0
    st.progress(min(max(share, 0.0), 1.0), escape_markdown(train_words.progress(job)), width=WIDE)


def _ask(config: TrainingConfig) -> None:
    run = STORE.find(config)
    if run and run.is_complete:  # somebody else was faster
        return
    seconds = estimate(config)
    limit = max(LIMIT[0] * seconds, LIMIT[1])
    try:
        number = sessions.submit(Request(JOB, config, seconds=seconds, limit=limit, then=_keep))
        st.session_state.setdefault(WATCHED, set()).add(number)
    except Refused as refused:
        notices.notify(str(refused))
        st.rerun()  # all of the page: notices stand at its top


def _keep(step: Step) -> None:
    if isinstance(step, Progress):
        STORE.keep(step.run)


def use_in_all_lenses(run: Run) -> None:
    """Let every lens show these weights. Only to be called in a callback."""
    controls.change("", weights=run.config.name)
