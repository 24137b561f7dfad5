"""How long the last answers took."""

import statistics

import pytest

from tfm_ui.server import latency
from tfm_ui.server.latency import KEPT, PAGE, PICTURES, note, of_last, timed


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(
        latency, "_seconds", {kind: type(known)(maxlen=KEPT) for kind, known in latency._seconds.items()}
    )


def test_without_answers_there_are_no_times():
    assert of_last() == {PAGE: {"count": 0}, PICTURES: {"count": 0}}


def test_median_and_95th_percentile_are_those_of_the_last_answers():
    for number in range(KEPT):
        note(PAGE, 1000 + number)  # too old to count
    for number in range(KEPT):
        note(PAGE, (KEPT - number) / 1000)
    known = of_last()[PAGE]
    assert known["count"] == KEPT
    assert known["p50_ms"] == statistics.median_low(range(1, KEPT + 1))
    assert known["p95_ms"] == 950


def test_of_a_few_answers_the_95th_percentile_is_the_longest():
    for seconds in (0.002, 0.001, 0.003):
        note(PICTURES, seconds)
    assert of_last()[PICTURES] == {"count": 3, "p50_ms": 2.0, "p95_ms": 3.0}


def test_a_block_that_ends_by_an_exception_is_noted():
    with pytest.raises(KeyError), timed(PAGE):
        raise KeyError
    assert of_last()[PAGE]["count"] == 1
