"""The button that fine-tunes the run that is chosen."""

from functools import partial
from statistics import median

from tfm_core.training.compare.finetuning.grid_file import shipped_grid
from tfm_core.training.compare.finetuning.kept import find_run, keep_run, kept_run
from tfm_core.training.compare.finetuning.outcome import Tuning
from tfm_core.training.compare.finetuning.tuning import TuningStep
from tfm_core.training.store import run_store
from tfm_ui.jobs.job import JobStatus, Request
from tfm_ui.jobs.messages import JobStep
from tfm_ui.lenses.training.finetune.results import JOB
from tfm_ui.page import job_bar
from tfm_ui.page.job_bar import Offer, Work
from tfm_ui.text import formats
from tfm_ui.visitors.visitor import network_here

STEP = 0.15  # seconds of a step where nothing else is known
LOOKS = 4.0  # seconds of the looks at a run, on the way and at its end
TUNE = partial(
    Work,
    job=JOB,
    key="training_finetune",
    icon=":material/model_training:",
    doing="Fine-tuning",
    noun="run",
    wide=380,
)


def draw(tuning: Tuning) -> None:
    """Draw it in the row above the picture."""
    with job_bar.line("line_finetune"):
        work = TUNE(argument=tuning, request=partial(_request, tuning))
        job = work.find()
        job_bar.draw(work, job, lambda: _offer(work, tuning, job))


def seconds_of(tuning: Tuning) -> float:
    """How long it takes, by the runs that come with the app."""
    grid = shipped_grid(tuning.task)
    known = [run.seconds for run in grid.of(tuning.way, tuning.examples)] if grid else []
    return LOOKS + (median(known) if known else STEP * tuning.steps)


def _offer(work: Work, tuning: Tuning, job: JobStatus | None) -> Offer:
    here, seconds = kept_run(tuning), formats.duration(1000 * seconds_of(tuning))
    there = "Computed here" if here else "It comes with the app" if find_run(tuning) else "Not computed yet"
    return Offer(
        label="Fine-tune again" if here else "Fine-tune",
        key="_training_finetune",
        said=f"{there}; about {seconds}.",
        warnings=[job_bar.ended(work, job), run_store().problem],
        is_done=here is not None,
    )


def _request(tuning: Tuning) -> Request | None:
    seconds, then = seconds_of(tuning), partial(_keep, network_here())
    return Request(JOB, tuning, seconds=seconds, limit=job_bar.limit_of(seconds), then=then)


def _keep(owner: str, step: JobStep) -> None:
    """Keep a run that has come to its end."""
    if isinstance(step, TuningStep) and step.tuned.accuracy is not None:
        keep_run(step.tuned, owner)
