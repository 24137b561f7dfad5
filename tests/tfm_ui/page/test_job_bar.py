"""What is told of a job, the same for all kinds."""

import pytest

from tfm_core.training.run import Told
from tfm_ui.jobs.job import JobStatus
from tfm_ui.lenses.generate.kept.measure_bar import MEASURE
from tfm_ui.lenses.training.compare_bar import COMPARE
from tfm_ui.lenses.training.train_bar import TRAIN
from tfm_ui.page.job_bar import LIMIT, PATIENCE, ended, limit_of, progress

KINDS = [kind(argument="", request=lambda: None) for kind in (MEASURE, COMPARE, TRAIN)]
MEASURING, COMPARING, TRAINING = KINDS


def status(state="running", *, mine=True, before=0, step=None, problem="", stopping=False) -> JobStatus:
    return JobStatus(1, state, mine, before, 25.0, 8.0, step, problem, stopping)


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (status("waiting"), "It starts in a moment."),
        (status("waiting", before=2), "2 jobs before it; it starts in about 25 s."),
        (status("waiting", mine=False), "Someone has asked for this. It starts in a moment."),
        (status(), "Training: it begins; about 8 s left."),
        (status(step=Told(0.4, 8.0, "step 4 of 9")), "Training: step 4 of 9; about 8 s left."),
        (
            status(step=Told(0.4, 8.0, "step 4 of 9"), mine=False),
            "Someone is training this now: step 4 of 9; about 8 s left.",
        ),
        (status(stopping=True), "Stopping: what is learned stays."),
    ],
)
def test_what_is_told_of_a_job_that_is_under_way(job, told):
    assert progress(TRAINING, job) == told
    if not job.stopping:
        for other in (MEASURING, COMPARING):
            said = progress(other, job)
            assert said == told.replace("Training", other.doing).replace("training", other.doing.lower())


def test_where_nothing_stays_stopping_promises_nothing():
    assert progress(MEASURING, status(stopping=True)) == progress(COMPARING, status(stopping=True)) == "Stopping."


def test_how_a_job_ended_is_told_with_what_becomes_of_it():
    lost = "A measurement that has not come to its end is not kept."
    assert ended(MEASURING, status("stopped")) == f"Stopped. {lost}"
    assert ended(MEASURING, status("failed", problem="It broke.", step=Told(0.4, 8.0, ""))) == f"It broke. {lost}"
    assert ended(MEASURING, status("failed", problem="It broke.", step=Told(1, 0.0, "done"))) == "It broke."
    assert ended(TRAINING, status("stopped"), "") == "Stopped."
    assert ended(TRAINING, status("stopped"), "Nothing was learned by then.") == "Stopped. Nothing was learned by then."
    assert ended(TRAINING, status("done")) == ended(TRAINING, status()) == ended(TRAINING, None) == ""


def test_a_job_has_its_time_and_more():
    assert limit_of(0.1) == PATIENCE
    assert limit_of(60) == 60 * LIMIT
