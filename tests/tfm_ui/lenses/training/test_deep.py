"""The claims on depth: each verdict follows from the runs, and changes with them."""

import math
from dataclasses import replace

import pytest

from tfm_core.training.compare.depth import Cell, DepthRecipe, DepthRun, cells
from tfm_core.training.compare.depth_table import DepthTable, depth_store
from tfm_ui.lenses.training.deep import claims
from tfm_ui.lenses.training.deep.claims import AGREES, DENIES, OPEN, DeepClaims, html
from tfm_ui.lenses.training.deep.gradients import DeepGradients
from tfm_ui.lenses.training.deep.questions import first_to_fail
from tfm_ui.lenses.training.deep.reached import DeepReached
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

GUESSING = math.log(10)


def run(cell: Cell, accuracy: float, gradients=(1.0,)) -> DepthRun:
    loss = 0.01 if accuracy > 0.99 else GUESSING if accuracy <= 0.1 else 2.0
    rows = dict.fromkeys(DepthRecipe().looked_at, tuple(gradients))
    return DepthRun(cell, 1, (1.0,), ((0, 2.3, 0.1), (400, loss, accuracy)), rows, rows, loss, 1e-4, accuracy, 0, 1.0)


def table(outcome, gradients=lambda cell: [1.0] * cell.layers) -> DepthTable:
    """All runs: cell -> share of right answers, and the gradient of each layer."""
    return DepthTable(DepthRecipe(), tuple(run(cell, outcome(cell), gradients(cell)) for cell in cells()), "torch")


def all_learn(cell):
    return 1.0


@pytest.mark.parametrize(
    ("claim", "outcome", "verdict"),
    [
        (claims.residuals, lambda cell: 0.1 if cell.wiring == "no residuals" and cell.layers >= 12 else 1.0, AGREES),
        (claims.residuals, all_learn, DENIES),
        (claims.residuals, lambda cell: 0.1, OPEN),
        (claims.norms, lambda cell: 0.1 if cell.wiring == "no norm" and cell.layers >= 24 else 1.0, AGREES),
        (claims.norms, all_learn, DENIES),
        (claims.original, all_learn, AGREES),
        (claims.original, lambda cell: 0.1 if cell.layers == 6 else 1.0, DENIES),
        (claims.original, lambda cell: 0.5, OPEN),
        (claims.needs_warmup, lambda cell: 1.0 if cell.warmup else 0.1, AGREES),
        (claims.needs_warmup, lambda cell: 0.2 if cell.warmup else 0.1, OPEN),
        (claims.needs_warmup, lambda cell: 0.1 if cell.warmup else 1.0, DENIES),
        (claims.needs_warmup, all_learn, DENIES),
        (claims.needs_none, all_learn, AGREES),
        (claims.needs_none, lambda cell: 0.1 if cell.layers == 24 else 1.0, DENIES),
        (claims.needs_none, lambda cell: 0.5 if cell.layers == 24 else 1.0, OPEN),
    ],
)
def test_a_verdict_follows_from_what_is_learned(claim, outcome, verdict):
    assert claim(table(outcome)).verdict == verdict


@pytest.mark.parametrize(
    ("of_pre", "of_post", "verdict"),
    [(-0.5, 0.0, AGREES), (-0.4, 0.1, AGREES), (0.0, 0.0, DENIES), (-0.5, -0.5, DENIES)],
)
def test_the_power_of_the_last_gradient_is_measured(of_pre, of_post, verdict):
    powers = {"pre-norm": of_pre, "post-norm": of_post}
    made = table(all_learn, lambda cell: [cell.layers ** powers.get(cell.wiring, 0.0)] * cell.layers)
    assert claims.power(made, "pre-norm") == pytest.approx(of_pre)
    assert claims.last_gradient(made).verdict == verdict


@pytest.mark.parametrize(("last", "verdict"), [(3.0, AGREES), (1.5, OPEN), (0.3, DENIES)])
def test_the_last_gradient_is_compared_with_the_first(last, verdict):
    made = table(all_learn, lambda cell: [1.0] * (cell.layers - 1) + [last])
    assert claims.near_output(made).verdict == verdict


def test_what_fails_is_said_of_made_up_runs(monkeypatch):
    made = table(lambda cell: 0.1 if cell.wiring == "no norm" and cell.layers >= 12 else 1.0)
    monkeypatch.setattr(depth_store(), "find", lambda: made)
    assert "no norm learns up to 6 layers and fails at 12" in DeepReached(ModelState(), TrainingState()).sentence()
    assert first_to_fail(ModelState(), TrainingState()) == "no norm"
    short = replace(made, runs=tuple(each for each in made.runs if each.cell.layers == 2))
    monkeypatch.setattr(depth_store(), "find", lambda: short)
    assert DeepReached(ModelState(), TrainingState()).depth == 2
    assert not DeepClaims(ModelState(), TrainingState()).is_shown
    assert first_to_fail(ModelState(), TrainingState()) == "none"
    monkeypatch.setattr(depth_store(), "find", lambda: None)
    assert not DeepReached(ModelState(), TrainingState()).is_shown


def test_gradients_are_the_medians_of_the_seeds():
    made = depth_store().find()
    panel = DeepGradients(ModelState(), TrainingState(deep=6, at=100))
    for wiring in made.wirings:
        rows = [
            each.gradients[100]
            for each in made.runs
            if (each.cell.wiring, each.cell.layers) == (wiring, 6) and each.cell.warmup == 0 and 100 in each.gradients
        ]
        assert panel.row(wiring, 0) == [sorted(column)[len(column) // 2] for column in zip(*rows, strict=True)]


def test_the_table_of_claims_shows_signs_as_they_are():
    drawn = html([claims.Claim("<b>", "a & b", "1 < 2", AGREES)])
    assert "<td>&lt;b&gt;</td><td>a &amp; b</td><td>1 &lt; 2</td>" in drawn
