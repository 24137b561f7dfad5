"""What is told of a measurement that did not come to its end."""

from dataclasses import replace

import pytest

from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_core.profiling import Blocks, Memory, Progress, Report
from tfm_ui.jobs.job import JobStatus
from tfm_ui.lenses.profiling import measure_words
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState


def stopped(so_far: Report | None) -> JobStatus:
    """This visitor's job, stopped when so much was done."""
    step = Progress(0.3, 8.0, "", so_far) if so_far else None
    return JobStatus(1, "stopped", True, 0, 0.0, 0.0, step, "", False)


NO_TIME = "Stopped. No row had the 3 rounds that a time takes. Not kept:"


@pytest.mark.parametrize(
    ("looked_into", "timings", "said"),
    [
        (0, 0, "Stopped. Nothing was measured by then."),
        (3, 0, f"{NO_TIME} the memory of 3 rows and the time by part of 2 rows."),
        (1, 2, f"{NO_TIME} the memory of 1 row and 2 timings."),
    ],
)
def test_what_is_lost_where_there_is_no_time_yet_is_said(looked_into, timings, said):
    """The last row that was looked into was stopped before its parts."""
    plan = plan_of(ModelState(), ProfilingState())
    assert plan is not None
    report = plausible(plan, done=3)
    blocks = Blocks((0.1,) * timings, tuple(range(timings)))
    rows = [
        replace(
            row,
            forward=blocks if number == 0 else Blocks(),
            training=Blocks(),
            memory=row.memory if number < looked_into else Memory(),
            parts=row.parts if number < looked_into - 1 else (),
        )
        for number, row in enumerate(report.measured)
    ]
    so_far = replace(report, measured=tuple(rows), complete=False)
    assert not measure_words.worth_keeping(so_far)
    assert measure_words.ended(stopped(so_far), None) == said
    assert measure_words.ended(stopped(None), None) == "Stopped. Nothing was measured by then."


def test_what_is_kept_stays():
    plan = plan_of(ModelState(), ProfilingState())
    assert plan is not None
    report = plausible(plan)
    assert measure_words.ended(stopped(report), report) == "Stopped. What was done stays."
