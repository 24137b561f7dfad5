"""The benchmarks' arithmetic, tables and messages. Measured times are not tested, as they differ each time."""

import sys
from importlib import import_module
from runpy import run_path

import pytest

from benchmarks import __main__ as command
from benchmarks.__main__ import NAMES
from benchmarks.measure import Ratio, interleaved, ratio, show, verdict


def test_an_unknown_name_is_told_what_was_expected(monkeypatch):
    """Python prints the text of a SystemExit, and ends with 1."""
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nonsense"])
    with pytest.raises(SystemExit) as ended:
        run_path(command.__file__, run_name="__main__")
    assert ended.value.code == f"expected some of {', '.join(NAMES)}; got nonsense"


@pytest.mark.parametrize("name", NAMES)
def test_each_benchmark_says_what_it_measures(name):
    benchmark = import_module(f"benchmarks.{name}")
    assert benchmark.__doc__
    assert benchmark.main.__doc__


def test_ratios_are_paired_round_by_round():
    assert ratio([2, 40, 6, 8], [1, 10, 2, 4]) == Ratio(median=2.5, low=2.0, high=3.75)
    assert ratio([3], [2]) == Ratio(1.5, 1.5, 1.5)
    with pytest.raises(ValueError, match="shorter"):
        ratio([1, 2, 3], [1, 2])


@pytest.mark.parametrize("untimed", [0, 1])
def test_contenders_take_turns_after_one_turn_to_warm_up(untimed):
    calls = []
    contenders = {name: lambda name=name: calls.append(name) for name in "ab"}
    seconds = interleaved(contenders, rounds=2, repeats=2, settle=untimed)
    each = untimed + 2
    turns = ["".join(calls[at : at + 2 * each]) for at in range(0, len(calls), 2 * each)]
    assert set(turns) <= {"a" * each + "b" * each, "b" * each + "a" * each}  # either may begin
    assert len(turns) == 3
    assert {name: len(times) for name, times in seconds.items()} == {"a": 2, "b": 2}


def test_a_verdict_holds_the_median_against_the_bar():
    assert verdict(Ratio(1.9, 1.5, 2.5), 2) == "≤ 2 ✓"
    assert verdict(2.1, 2) == "≤ 2 ✕"
    assert verdict(19, 20, at_least=True) == "≥ 20 ✕"


def test_a_row_of_a_table_may_end_early(capsys):
    show("sizes", ["tokens", "ratio"], [[8, "1.00"], [1024]])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "sizes",
        "  tokens   ratio",
        "  ------   -----",
        "  8        1.00",
        "  1024",
    ]
