"""Several runs as rows of Markdown: medians with their range."""

import json
from types import SimpleNamespace

import pytest

from benchmarks import runs
from benchmarks.__main__ import NAMES
from benchmarks.measure import Figure
from benchmarks.runs import figures_of

TIMES, SECONDS = Figure("a tick", "a plain page"), Figure("a start", "", "s", "{:.1f}")


def test_a_row_has_the_median_of_the_runs_and_their_range():
    lines = runs.table([TIMES, SECONDS], [[1.25, None], [1.0, 2.0], [3.0, 4.04]])
    assert lines == [
        "| What | Median of 3 runs (least to most) | Beside |",
        "|---|---|---|",
        "| a tick | 1.25 times (1.00 to 3.00) | a plain page |",
        "| a start | 3.0 s (2.0 to 4.0) |  |",
    ]


def test_a_single_run_has_no_range():
    assert runs.table([TIMES, SECONDS], [[1.25, 2.0]]) == [
        "| What | One run | Beside |",
        "|---|---|---|",
        "| a tick | 1.25 times | a plain page |",
        "| a start | 2.0 s |  |",
    ]


def test_what_no_run_could_measure_says_so():
    assert runs.table([TIMES], [[None]])[2] == "| a tick | not measured | a plain page |"


def test_words_stand_where_a_run_has_no_number():
    assert runs.table([SECONDS], [[1.0], ["more than 60 s"], [2.0]])[2] == "| a start | more than 60 s |  |"


def test_figures_with_columns_have_a_row_for_all_that_measure_the_same():
    a, b = (Figure("a start", "", "s", "{:.1f}", column=column) for column in "ab")
    assert runs.table([a, b], [[1.0, "refused"]]) == [
        "| One run | a | b |",
        "|---|---|---|",
        "| a start | 1.0 s | refused |",
    ]


WHERE = "Measured on 2 cores of A, Linux, Python 3, torch 2 (AVX2)."
DOCUMENT = f"# How fast\n\nWords.\n\n## Measured\n\n{WHERE} Shared.\n\n### core\n\nOld core.\n\n### gone\n\nOld.\n"


def test_tables_take_the_place_of_those_of_a_document():
    text = runs.with_tables(
        DOCUMENT, "Measured on 4 cores of B.", {"tick": "### tick\n\nNew.", "core": "### core\n\nNew."}
    )
    above = DOCUMENT.partition(WHERE)[0]
    assert text == f"{above}Measured on 4 cores of B.\n\n### core\n\nNew.\n\n### tick\n\nNew.\n"


def test_some_tables_are_replaced_alone_where_the_machine_is_the_same():
    text = runs.with_tables(DOCUMENT, f"{WHERE} Quiet.", {"tick": "### tick\n\nNew."})
    assert text.endswith(f"{WHERE} Quiet.\n\n### core\n\nOld core.\n\n### tick\n\nNew.\n")


def test_a_table_of_another_machine_says_so_itself_until_it_is_measured_where_the_others_were():
    on_b = "Measured on 4 cores of B."
    text = runs.with_tables(DOCUMENT, on_b, {"tick": "### tick\n\nNew.\n\n| a |"})
    assert text.endswith(f"{WHERE} Shared.\n\n### core\n\nOld core.\n\n### tick\n\nNew. {on_b}\n\n| a |\n")
    again = runs.with_tables(text, f"{WHERE} Quiet.", {"tick": "### tick\n\nNewer.\n\n| b |"})
    assert again.endswith(f"{WHERE} Quiet.\n\n### core\n\nOld core.\n\n### tick\n\nNewer.\n\n| b |\n")
    all_of_b = runs.with_tables(again, on_b, {name: f"### {name}\n\nOf B." for name in ("core", "tick")})
    assert all_of_b.endswith(f"## Measured\n\n{on_b}\n\n### core\n\nOf B.\n\n### tick\n\nOf B.\n")


def test_a_benchmark_that_fails_leaves_its_old_table_and_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runs, "in_new_process", lambda name: None if name == "core" else [1.0] * len(figures_of(name)))
    monkeypatch.setattr(runs, "machine", lambda: WHERE)
    (tmp_path / "fast.md").write_text(DOCUMENT)
    assert runs.repeat(["core", "generation"], 1, tmp_path / "fast.md") == ["core"]
    text = (tmp_path / "fast.md").read_text()
    assert "Old core." in text
    assert "### generation" in text
    assert "not measured" in capsys.readouterr().out
    assert "not measured" not in text


def test_the_share_of_others_is_told_where_the_system_knows_it():
    before = SimpleNamespace(user=0.0, nice=0.0, system=0.0, steal=0.0)
    after = SimpleNamespace(user=80.0, nice=0.0, system=10.0, steal=10.0)
    assert runs.shared(before, after) == "Of the time that these cores asked for, 10% went to others."
    assert runs.shared(SimpleNamespace(user=0.0), SimpleNamespace(user=1.0)) == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_tells_each_figure_once(name):
    figures = runs.figures_of(name)
    assert len({(figure.what, figure.beside, figure.column) for figure in figures}) == len(figures) > 0
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
