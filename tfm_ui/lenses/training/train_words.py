"""What is told of a training: before, while it waits and runs, and how it ended."""

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


def progress(job: JobStatus) -> str:
    """The progress of a job that is under way."""
    if job.stopping:
        return "Stopping: what is learned stays."
    if job.state == "waiting":
        asked = "" if job.mine else "Someone has asked for this. "
        if not job.before:
            return f"{asked}It starts in a moment."
        wait = formats.duration(1000 * job.wait)
        return f"{asked}{formats.plural(job.before, 'job')} before it; it starts in about {wait}."
    who = "Training" if job.mine else "Someone is training this now"
    if not isinstance(job.step, Progress):
        return f"{who}: it begins."
    run = job.step.run
    rate = f", {run.done / run.seconds:.0f} a second" if run.seconds else ""
    return f"{who}: {job.step.doing}{rate}, {formats.duration(1000 * job.step.seconds_left)} left."


def ended(job: JobStatus | None) -> str:
    """How this visitor's last job ended, where it did not come to its end; "" if it did. `before` follows it."""
    if job is None or job.state not in ("stopped", "failed"):
        return ""
    return f"{job.problem or 'Stopped.'}{'' if job.step else ' Nothing was learned by then.'}"
