"""What is counted and timed, and what /status tells of it."""

import json

import pytest
from prometheus_client import CollectorRegistry, Histogram

from tests.tfm_ui.visitors.test_compute_limiter import refused
from tfm_ui.visitors import metrics, turn
from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, Lane
from tfm_ui.visitors.metrics import BOUNDS, told_of


def timed(*seconds: float) -> Histogram:
    histogram = Histogram("seconds", "Seconds.", buckets=BOUNDS, registry=CollectorRegistry())
    for each in seconds:
        histogram.observe(each)
    return histogram


def test_of_what_was_never_timed_the_count_is_told_alone():
    assert told_of(timed()) == {"count": 0}


def test_the_bounds_that_are_told_are_the_least_that_enough_times_are_within():
    told = told_of(timed(*[0.004] * 50, *[0.3] * 45, *[7.0] * 5))
    assert told == {"count": 100, "mean_ms": 487.0, "p50_within_ms": 5.0, "p95_within_ms": 500.0}
    assert told_of(timed(*[0.004] * 50, *[0.3] * 44, *[7.0] * 6))["p95_within_ms"] == 10_000
    assert told_of(timed(0.004))["p95_within_ms"] == 5


def test_longer_than_all_bounds_is_told_as_that_and_can_be_written_as_json():
    told = told_of(timed(999))
    assert told["p50_within_ms"] == "over 180000"
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_run_that_an_error_ends_is_timed_and_counted_and_one_that_streamlit_ends_is_no_error():
    def counts() -> tuple[float | str, float | None]:
        return told_of(metrics.PAGE_RUNS)["count"], metrics.REGISTRY.get_sample_value("attention_lab_page_errors_total")

    class Ended(BaseException):
        """Derives from what Streamlit's own do."""

    (runs, errors), kinds = counts(), (KeyError, Ended)
    for kind in kinds:
        with pytest.raises(kind), metrics.PAGE_RUNS.time(), metrics.PAGE_ERRORS.count_exceptions():
            raise kind
    assert counts() == (runs + 2, errors + 1)


def test_who_has_waited_too_long_is_counted(monkeypatch):
    limiter, before = ComputeLimiter(pictures=1, pages=1, slow=1), refused("seconds_waited")
    monkeypatch.setattr(turn, "LIMITER", limiter)
    monkeypatch.setattr(turn, "PATIENCE", 0.0)
    limiter.ask("another", Lane.PICTURES)
    waiting = turn.Turn("somebody")
    with pytest.raises(Busy, match="has waited 0 seconds"):
        waiting.wait()
    assert refused("seconds_waited") == before + 1
