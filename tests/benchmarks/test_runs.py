"""Several runs as rows of Markdown: medians with their range."""

import json

import pytest

from benchmarks import runs
from benchmarks.__main__ import NAMES
from benchmarks.measure import Figure

TIMES, SECONDS = Figure("a tick", "a plain page"), Figure("a start", "", "s", "{:.1f}")


def test_a_row_has_the_median_of_the_runs_and_their_range():
    lines = runs.table([TIMES, SECONDS], [[1.25, None], [1.0, 2.0], [3.0, 4.04]])
    assert lines == [
        "| What | Median of 3 runs (least to most) | Beside |",
        "|---|---|---|",
        "| a tick | 1.25 times (1.00 to 3.00) | a plain page |",
        "| a start | 3.0 s (2.0 to 4.0) |  |",
    ]


def test_what_no_run_could_measure_says_so():
    assert runs.table([TIMES], [[None]])[2] == "| a tick | not measured | a plain page |"


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_tells_each_figure_once(name):
    figures = runs.figures_of(name)
    assert len({(figure.what, figure.beside) for figure in figures}) == len(figures) > 0
    assert all("|" not in figure.what + figure.beside for figure in figures)


def test_numbers_are_left_in_the_figures_order_and_no_other_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "figures_of", lambda name: [TIMES, SECONDS])
    runs.write("any", {SECONDS: 2.5}, tmp_path / "numbers")
    assert json.loads((tmp_path / "numbers").read_text()) == [None, 2.5]
    with pytest.raises(ValueError, match="only what FIGURES has"):
        runs.write("any", {Figure("another", ""): 1.0}, tmp_path / "numbers")


def test_the_processor_is_told_by_its_name(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A Processor @ 2 GHz\n\nflags\t: fpu\n")
    assert runs.processor(cpuinfo) == "A Processor @ 2 GHz"
    assert runs.processor(tmp_path / "none")
    assert "cores" in runs.machine()
