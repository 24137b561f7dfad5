"""What is told of a measurement of this lens: before, while it runs, and of what was stopped."""

from typing import Any

from tfm_core.profiling import Plan, Progress, Report
from tfm_core.profiling.report import FEWEST, Memory
from tfm_core.profiling.units import in_seconds
from tfm_ui.jobs.job import JobStatus
from tfm_ui.text import formats, provenance


def before(plan: Plan, seconds: float) -> str:
    """What a plan would take that nobody has measured here."""
    rows, rounds = formats.plural(len(plan.rows), "row"), formats.plural(plan.setup.rounds, "round")
    return f"Not measured yet. It takes about {in_seconds(seconds)}: {rows}, {rounds}."


def doing(step: Any) -> str:
    """How far a measurement is: 40%, round 6 of 9."""
    return ", ".join(filter(None, [f"{100 * step.share:.0f}%", step.doing]))


def left(job: JobStatus | None, report: Report | None) -> str:
    """What there is of a measurement that did not come to its end.

    Args:
        job: that measured.
        report: the measurement that is shown.
    """
    so_far = job.step.report if job and isinstance(job.step, Progress) else None
    stays = report is not None and so_far is not None and so_far.id == report.id
    return "What was done stays." if stays else _lost(so_far)


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


def facts(report: Report) -> str:
    """When, where and how it was measured, and how much of it counts."""
    setup = report.plan.setup
    return provenance.facts(report, threads=setup.threads, dtype=setup.dtype, seed=setup.seed)


def worth_keeping(report: Report) -> bool:
    """Whether there is something to show: it came to its end, or has a figure."""
    return report.complete or report.has_figures
