"""The button that trains."""

from functools import partial

from tfm_core import TrainingConfig, run_store
from tfm_core.training.run import Progress
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import JobStep
from tfm_ui.lenses.training import train_words
from tfm_ui.lenses.training.runs import JOB, estimate
from tfm_ui.page import job_bar
from tfm_ui.page.job_bar import Offer, Work
from tfm_ui.visitors.visitor import network_here

TRAIN = partial(
    Work,
    job=JOB,
    key="training",
    icon=":material/model_training:",
    doing="Training",
    noun="training",
    stays="what is learned",
    wide=380,
    told=train_words.doing,
)


def draw(config: TrainingConfig | None, reason: str) -> None:
    """Draw it in the row above the picture.

    Args:
        config: what the button trains; None if the controls ask for what cannot be.
        reason: why it is not trained here; "" if it is.
    """
    with job_bar.line("line_train"):
        work = TRAIN(argument=config, request=partial(_request, config))
        job = work.find() if config else None
        job_bar.draw(work, job, lambda: _offer(work, config, reason, job))


def _offer(work: Work, config: TrainingConfig | None, reason: str, job: JobStatus | None) -> Offer:
    run = run_store().find(config) if config else None
    beginning = run_store().beginning(config) if config and not (run and run.is_complete) else None
    is_over = run is not None and (run.is_complete or bool(run.problem))
    goes_on = beginning is not None and beginning.done > 0
    trained = "It is trained: another seed, or other settings, make another run."
    return Offer(
        label="Continue" if goes_on else "Train",
        key="_training_train",
        said=reason or train_words.before(config, run, beginning) if config else reason,
        warnings=[job_bar.ended(work, job, train_words.left(job)), run_store().problem],
        is_done=is_over,
        disabled=bool(reason) or is_over,
        help=trained if is_over else "What was learned stays: it goes on from there." if goes_on else None,
    )


def _request(config: TrainingConfig | None) -> Request | None:
    run = run_store().find(config) if config else None
    if config is None or (run and run.is_complete):  # somebody else was faster
        return None
    seconds, then = estimate(config), partial(_keep, network_here())
    return Request(JOB, config, seconds=seconds, limit=job_bar.limit_of(seconds), then=then)


def _keep(owner: str, step: JobStep) -> None:
    """Keep what was learned. It belongs to whoever asked first, however many wait for it."""
    if isinstance(step, Progress):
        run_store().keep(step.run, owner=owner)
