"""What is told of a measurement: before, while it waits and runs, and of what came out."""

from datetime import datetime

from tfm_core.profiling import Plan, Progress, Report
from tfm_core.profiling.report import FEWEST, FEWEST_CLEAN, Memory
from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs.job import JobStatus
from tfm_ui.text import formats

SHARED = 0.1  # of the timings disturbed: from here on it is said that other programs ran
DISTURBED = "Other programs ran meanwhile."


def progress(job: JobStatus) -> str:
    """The progress of a job that is under way."""
    if job.stopping:
        return "Stopping: what is done stays."
    if job.state == "waiting":
        asked = "" if job.mine else "Someone has asked for this. "
        if not job.before:
            return f"{asked}It starts in a moment."
        return f"{asked}{formats.plural(job.before, 'job')} before it; it starts in about {in_seconds(job.wait)}."
    done = f"{100 * job.step.share:.0f}%" if job.step else "0%"
    doing = f", {job.step.doing}" if job.step and job.step.doing else ""
    whose = "Measuring" if job.mine else "Someone is measuring this now"
    return f"{whose}: {done}{doing}; about {in_seconds(job.seconds_left)} left."


def ended(job: JobStatus | None, report: Report | None) -> str:
    """How this visitor's last job ended, where it did not come to its end; "" if it did."""
    if job is None or job.state not in ("stopped", "failed"):
        return ""
    so_far = job.step.report if isinstance(job.step, Progress) else None
    stays = report is not None and so_far is not None and so_far.id == report.id
    return f"{job.problem or 'Stopped.'} {'What was done stays.' if stays else _lost(so_far)}"


def _lost(so_far: Report | None) -> str:
    """What was measured before there was any time, and so is not kept."""
    measured = so_far.measured if so_far else ()
    memory = sum(row.memory != Memory() for row in measured)
    parts = sum(bool(row.parts) for row in measured)
    timings = so_far.blocks[0] if so_far else 0
    done = [
        *([f"the memory of {formats.plural(memory, 'row')}"] if memory else []),
        *([f"the time by part of {formats.plural(parts, 'row')}"] if parts else []),
        *([formats.plural(timings, "timing")] if timings else []),
    ]
    if not done:
        return "Nothing was measured by then."
    return f"No row had the {FEWEST} rounds that a time takes. Not kept: {formats.listed(done)}."


def forgotten(report: Report | None) -> str:
    """A sentence for a link whose measurement this server does not have."""
    instead = " This is the latest one of the same settings." if report else ""
    return f"The measurement that the link names is not on this server.{instead}"


def when(report: Report) -> str:
    """When it was measured, and how long that took: 21 Nov 2026, 15:30 UTC, in 12.3 s."""
    began = datetime.fromisoformat(report.started) if report.started else None
    started = f"{began.day} {began:%b %Y, %H:%M} UTC, " if began else ""
    return f"{started}in {formats.duration(1000 * report.seconds)}"


def facts(report: Report) -> str:
    """When, where and how it was measured, and how much of it counts."""
    machine, setup = report.machine, report.plan.setup
    processor = [machine.processor] if machine.processor not in ("", machine.device) else []
    how = [formats.plural(setup.threads, "thread"), setup.dtype, f"torch {machine.torch}", f"seed {setup.seed}"]
    where = " · ".join([machine.device, *processor, *how])
    return f"Measured {when(report)}: {where}. {blocks(report)}"


def blocks(report: Report) -> str:
    """How much of it counts."""
    measured, disturbed = report.blocks
    if not measured:
        return "No time was measured."
    if not disturbed:
        return f"All {formats.count(measured)} timings ran undisturbed." if measured > 1 else "1 timing, undisturbed."
    of_all = f"{formats.count(disturbed)} of {formats.count(measured)} timings"
    if not report.under_load:
        return f"Other programs disturbed {of_all}, which are left out."
    return (
        f"Other programs disturbed {of_all}. Where fewer than {FEWEST_CLEAN} rounds ran undisturbed, the figure is of "
        "all rounds and is marked as measured under load. Measure again when the machine is quieter."
    )


def is_shared(report: Report) -> bool:
    """Whether so many timings were disturbed that the reader must know."""
    measured, disturbed = report.blocks
    return disturbed > SHARED * measured


def worth_keeping(report: Report) -> bool:
    """Whether there is something to show: it came to its end, or has a figure."""
    return report.complete or report.has_figures


def before(plan: Plan, seconds: float) -> str:
    """What a plan would take that nobody has measured here."""
    rows, rounds = formats.plural(len(plan.rows), "row"), formats.plural(plan.setup.rounds, "round")
    return f"Not measured yet. It takes about {in_seconds(seconds)}: {rows}, {rounds}."
