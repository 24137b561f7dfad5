"""The gate: readings and clocks that are made up, and a neighbour who is real."""

import os
import subprocess
import sys
import time

import pytest

from tests.tfm_core.profiling.small import plan_of
from tfm_core.profiling import profile
from tfm_core.profiling.contention import Gate, gate, stalled_seconds

LINE = "some avg10=0.97 avg60=0.79 avg300=3.43 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"


def ticking(*readings: float):
    left = list(readings)
    return lambda: left.pop(0)


def test_the_share_is_what_was_lost_of_the_wall_time():
    measured = Gate("pressure", ticking(5.0, 5.02), ticking(100.0, 100.1))
    assert measured.around(lambda: "done") == ("done", pytest.approx(0.2))


def test_clocks_that_tick_coarsely_are_given_the_benefit_of_the_doubt():
    measured = Gate("time", ticking(0.0, 0.031), ticking(0.0, 0.1), grain=0.03)
    assert measured.around(lambda: None)[1] == pytest.approx(0.01)
    assert Gate("time", ticking(0.0, 0.01), ticking(0.0, 0.1), grain=0.03).around(lambda: None)[1] == 0
    assert Gate("time", ticking(0.0, 1.0), ticking(3.0, 3.0)).around(lambda: None)[1] == 0  # no time at all


def test_pressure_is_read_as_linux_writes_it(tmp_path):
    assert stalled_seconds(LINE.format(19_231_114_437)) == 19_231.114437
    for other in ("", "full avg10=0.00 total=7", "some avg10=0.97", "some total=many"):
        with pytest.raises(ValueError, match=r"expected a line|invalid literal"):
            stalled_seconds(other)

    file = tmp_path / "cpu"
    file.write_text(LINE.format(1_000_000))
    measured = gate(file)
    assert measured.kind == "pressure"
    _, share = measured.around(lambda: file.write_text(LINE.format(3_600_000_000)))  # an hour, in a moment
    assert share > 1


@pytest.mark.parametrize("content", [None, "", "nonsense"])
def test_where_linux_does_not_tell_the_time_of_the_thread_does(content, tmp_path):
    file = tmp_path / "cpu"
    if content is not None:
        file.write_text(content)
    measured = gate(file)
    assert measured.kind == "time"
    assert 0 <= measured.around(lambda: sum(range(10_000)))[1] <= 1


def test_a_thread_that_waits_has_lost_its_time(tmp_path):
    assert gate(tmp_path / "none").around(lambda: time.sleep(0.05))[1] > 0.5


@pytest.mark.usefixtures("small_machine")
def test_a_busy_neighbour_is_reported():
    """More processes than processors, all of them busy: whatever figure is printed was had between them."""
    busy = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
    neighbours = [subprocess.Popen(busy, stdout=subprocess.PIPE) for _ in range((os.cpu_count() or 1) + 1)]
    try:
        for neighbour in neighbours:
            assert neighbour.stdout is not None
            neighbour.stdout.readline()  # it has begun
        for progress in profile(plan_of("without weights", rounds=9, backward=False)):
            measured, contended = progress.report.blocks
            if contended:
                break
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.communicate()
    assert contended
    assert measured == contended + len(progress.report.measured[0].forward.seconds)
