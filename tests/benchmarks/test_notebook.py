"""The benchmark of pictures in a notebook: its cells and its table. No other library is needed."""

import json
from contextlib import nullcontext

import pytest

from benchmarks import notebook
from benchmarks.notebook import CONTENDERS, FIRST, HOVER, MADE, MEASURES, NO_MEMORY, NOT_TRIED, REFUSED, SAVED, TOO_LONG
from benchmarks.runs import figures_of, table

TOKENS = 6


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(notebook, "LAYERS", 2)
    monkeypatch.setattr(notebook, "HEADS", 3)


def test_all_contenders_have_the_same_causal_weights(small):
    weights = notebook.random_weights(TOKENS)
    assert weights.shape == (2, 3, TOKENS, TOKENS)
    assert weights.equal(notebook.random_weights(TOKENS))
    assert weights.tril().equal(weights)
    assert weights.sum(-1).allclose(weights.new_ones(2, 3, TOKENS))


def test_a_cell_is_written_and_its_bytes_and_seconds_are_told(small, tmp_path, capsys):
    notebook.make("heads", TOKENS, tmp_path / "cell.html")
    saved, seconds = json.loads(capsys.readouterr().out)
    page = (tmp_path / "cell.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert 10_000 < saved < len(page) * 4 / 3
    assert 0 < seconds < 60


def test_the_probe_knows_where_each_view_is_pointed_at():
    probe = notebook.PROBE.read_text("utf-8")
    assert [each.view for each in CONTENDERS if f"\n    {each.view}(i) {{" not in probe] == []


def test_who_was_too_slow_is_not_tried_with_more(monkeypatch):
    monkeypatch.setattr(notebook, "_made", lambda *_: pytest.fail("it was tried"))
    values = notebook.measured(CONTENDERS[0], 128, TOO_LONG)
    assert values == {SAVED: NOT_TRIED, MADE: NOT_TRIED, FIRST: TOO_LONG, HOVER: TOO_LONG}


def test_what_is_made_is_told_in_megabytes_and_opened(monkeypatch):
    monkeypatch.setattr(notebook, "_made", lambda contender, tokens, file: (2_500_000, 0.25))
    monkeypatch.setattr(notebook, "opened", nullcontext)
    monkeypatch.setattr(notebook, "visit", lambda page, contender, file: (0.5, NO_MEMORY))
    values = notebook.measured(CONTENDERS[0], 128)
    assert values == {SAVED: 2.5, MADE: 0.25, FIRST: 0.5, HOVER: NO_MEMORY}


def test_what_cannot_be_made_has_the_reason_in_each_row(monkeypatch):
    monkeypatch.setattr(notebook, "_made", lambda contender, tokens, file: REFUSED)
    assert notebook.measured(CONTENDERS[0], 128) == dict.fromkeys(MEASURES, REFUSED)


def test_the_table_has_a_column_for_each_contender():
    figures = figures_of("notebook")
    head, _, *rows = table(figures, [[TOO_LONG] * len(figures)])
    assert head == f"| One run | {' | '.join(contender.title for contender in CONTENDERS)} |"
    assert len(rows) == len(notebook.SIZES) * len(MEASURES)
    assert all(row.count(TOO_LONG) == len(CONTENDERS) for row in rows)
