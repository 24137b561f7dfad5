"""The button that trains, and what is told while it does."""

from functools import partial
from html import escape

import streamlit as st

from tfm_core import STORE, TrainingConfig
from tfm_core.training.run import Progress
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import Step
from tfm_ui.lenses.training import train_words
from tfm_ui.lenses.training.runs import JOB, estimate
from tfm_ui.page import job_bar
from tfm_ui.visitors.visitor import network_here

WIDE = 380  # pixels of a bar of progress, so that its words stand in one line
LIMIT = 6.0, 30.0  # a run is stopped after this many times its estimate, and never before this many seconds
JOIN = "The training goes on even if the visitor who started it leaves."
WATCHED = "_trainings"  # in the session: jobs that it has seen under way


def draw(config: TrainingConfig | None, reason: str) -> None:
    """Draw it in the row above the picture.

    Args:
        config: what the button trains; None if the controls ask for what cannot be.
        reason: why it is not trained here; "" if it is.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="line_train"):
        job = job_bar.watched(sessions.find(JOB, config), WATCHED) if config else None
        if config and job and job.under_way:
            st.fragment(_live, run_every=job_bar.OFTEN)(config)
        else:
            _idle(config, reason, job)


def _idle(config: TrainingConfig | None, reason: str, job: JobStatus | None) -> None:
    """Nothing is under way: the button, and in one line what there is or went wrong."""
    run = STORE.find(config) if config else None
    beginning = STORE.beginning(config) if config and not (run and run.is_complete) else None
    is_over = run is not None and (run.is_complete or bool(run.problem))
    goes_on = beginning is not None and beginning.done > 0
    trained = "It is trained: another seed, or other settings, make another run."
    st.button(
        "Continue" if goes_on else "Train",
        on_click=_ask,
        args=(config,),
        type="secondary" if is_over else "primary",
        icon=":material/model_training:",
        disabled=bool(reason) or is_over,
        help=trained if is_over else "What was learned stays: it goes on from there." if goes_on else None,
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
    job_bar.draw(job, train_words.progress(job), join=_ask, what=config, about=JOIN, key="training", wide=WIDE)


def _ask(config: TrainingConfig) -> None:
    run = STORE.find(config)
    if run and run.is_complete:  # somebody else was faster
        return
    seconds = estimate(config)
    limit = max(LIMIT[0] * seconds, LIMIT[1])
    keep = partial(_keep, network_here())
    job_bar.submit(Request(JOB, config, seconds=seconds, limit=limit, then=keep), WATCHED)


def _keep(owner: str, step: Step) -> None:
    """Keep what was learned. It belongs to whoever asked first, however many wait for it."""
    if isinstance(step, Progress):
        STORE.keep(step.run, owner=owner)
