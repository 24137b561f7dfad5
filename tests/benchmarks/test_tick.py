"""The bars of a tick, and what is asked for at a tick and at rest. No time is tested: the numbers are given."""

import sys
from runpy import run_path

import pytest

from benchmarks import __main__ as command
from benchmarks import tick
from benchmarks.live.views import links
from benchmarks.measure import AboveBarError
from tfm_ui.lenses import lens


def test_no_line_says_that_all_views_keep_the_bars():
    assert tick.above_bars({"/heads": tick.VIEW_BAR, "/model": 0.0, "/masks": 0.0, "/home": 0.0}) == []


def test_each_view_above_the_bar_is_named_the_dearest_first():
    ticks = {"/heads": 41.0, "/model?model_view=depth": 250.04} | {f"/{at}": 1.0 for at in range(50)}
    assert tick.above_bars(ticks) == [
        "/model?model_view=depth: expected at most 40 ms a tick, got 250.04",
        "/heads: expected at most 40 ms a tick, got 41.00",
    ]


def test_many_views_below_the_bar_are_too_dear_together():
    lines = tick.above_bars({"/heads": 20.0, "/masks": 30.0})
    assert lines == ["all views: expected a mean of at most 12 ms, got 25.00"]


def test_the_command_ends_with_what_is_above_a_bar(monkeypatch):
    """Python prints the text of a SystemExit, and ends with 1."""

    def above() -> None:
        raise AboveBarError(["/heads: too dear", "/model: too dear"], {tick.WHOLE: 30.0})

    monkeypatch.setattr(tick, "main", above)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "tick"])
    with pytest.raises(SystemExit) as ended:
        run_path(command.__file__, run_name="__main__")
    assert ended.value.code == "tick:\n/heads: too dear\n/model: too dear"


def test_a_table_of_figures_has_them_though_they_are_above_a_bar(monkeypatch, tmp_path):
    def above() -> None:
        raise AboveBarError(["/heads: too dear"], {tick.WHOLE: 30.0})

    monkeypatch.setattr(tick, "main", above)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--figures", str(tmp_path / "figures.json"), "tick"])
    run_path(command.__file__, run_name="__main__")
    assert "30.0" in (tmp_path / "figures.json").read_text()


def test_what_slow_panels_show_and_say_is_no_part_of_a_tick_and_none_of_it_is_left_out_at_rest():
    asks = tick._asks(next(link for link in links() if "view=kept" in link))
    slow = {"generate_kept_costs", "generate_kept_same"}
    assert not slow & set(asks.names)
    assert set(asks.at_rest) == {*slow, "generate.words", "generate.slow"}
    assert {*asks.names, *asks.at_rest} >= set(lens("generate").views["kept"].pictures)
    assert not tick._asks("/heads").at_rest
