"""Where the numbers of a measurement come from, in words: when, on which machine, how, and what disturbed it."""

from datetime import datetime

from tfm_core.profiling import Machine, Report
from tfm_core.profiling.decoding_report import Decoding
from tfm_core.profiling.report import FEWEST_CLEAN
from tfm_ui.text import formats

SHARED = 0.1  # of the timings disturbed: from here on it is said that other programs ran
DISTURBED = "Other programs ran meanwhile."


def when(report: Report | Decoding) -> str:
    """When it was measured, and how long that took: 21 Nov 2026, 15:30 UTC, in 12.3 s."""
    began = datetime.fromisoformat(report.started) if report.started else None
    started = f"{began.day} {began:%b %Y, %H:%M} UTC, " if began else ""
    return f"{started}in {formats.duration(1000 * report.seconds)}"


def facts(report: Report | Decoding, *, threads: int, dtype: str, seed: int | None = None) -> str:
    """When, where and how it was measured, and how much of it counts."""
    machine = report.machine
    how = [formats.plural(threads, "thread"), dtype, f"torch {machine.torch}"]
    seeded = [] if seed is None else [f"seed {seed}"]
    where = " · ".join([machine.device, *processor(machine), *how, *seeded])
    return f"Measured {when(report)}: {where}. {blocks(report)}"


def processor(machine: Machine) -> list[str]:
    """The name of the machine's processor, where the device's name is not all that is known of it."""
    return [machine.processor] if machine.processor not in ("", machine.device) else []


def blocks(report: Report | Decoding) -> str:
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


def is_disturbed(report: Report | Decoding) -> bool:
    """Whether so many timings were disturbed that the reader must know."""
    measured, disturbed = report.blocks
    return disturbed > SHARED * measured
