"""What is told of a training: before, while it runs, and of what was stopped."""

from typing import Any

from tfm_core import TrainingConfig
from tfm_core.training.run import Progress, Run
from tfm_ui.jobs.job import JobStatus
from tfm_ui.lenses.training.runs import estimate, size_of
from tfm_ui.text import formats


def before(config: TrainingConfig, run: Run | None, beginning: Run | None) -> str:
    """The outcome of a run, or what one would take, where nobody trains it at the moment."""
    if run and run.problem:
        return "It ended early: the picture says why."
    if run and run.is_complete:
        rate = f", {run.done / run.seconds:.0f} steps a second" if run.seconds else ""
        return f"Trained: {formats.count(run.done)} steps in {formats.duration(1000 * run.seconds)}{rate}."
    size = formats.plural(size_of(config), "parameter")
    seconds = formats.duration(1000 * estimate(config))
    if beginning and beginning.done:
        return f"{formats.count(beginning.done)} of {formats.plural(config.steps, 'step')} are made."
    return f"{size}, {formats.count(config.steps)} steps: about {seconds}."


def doing(step: Any) -> str:
    """How far a training is, and how fast: step 20 of 50, 400 a second."""
    run = step.run if isinstance(step, Progress) else None
    rate = f", {run.done / run.seconds:.0f} a second" if run and run.seconds else ""
    return f"{step.doing}{rate}"


def left(job: JobStatus | None) -> str:
    """What there is of a training that did not come to its end; `before` follows it."""
    return "" if job and job.step else "Nothing was learned by then."
