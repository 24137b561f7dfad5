"""All draws of the view "distance", as the worker makes them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.store.empty import empty_store
from tfm_ui.jobs import exact as jobs
from tfm_ui.jobs.exact import ExactStep
from tfm_ui.jobs.networks import NAMES
from tfm_ui.lenses.model.distance import VIEW, reach
from tfm_ui.lenses.model.distance.questions import what_the_start_does
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.exact import MISSING
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import exact as kept

STATE = ModelLensState(view="distance", reach_length=8, reach_seeds=5)
MODELS = [
    ModelState(),
    ModelState(architecture="encoder-decoder", positional="t5", num_layers=1),
    ModelState(architecture="decoder", seed=4),
]


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """A draw is made while the reader waits; what is computed in full is kept apart."""
    monkeypatch.setattr(reach, "SECONDS", 1e-9)
    monkeypatch.setattr(jobs, "connect", lambda: None)
    with empty_store(kept):
        yield


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("start", ["ours", "torch"])
def test_the_link_of_the_whole_shows_what_there_would_be_with_more_time(model, start, monkeypatch):
    state = replace(STATE, reach_start=start, reach_kernel=5)
    exact = Distance(model, state).exact
    steps = list(jobs.all_draws(exact.argument))
    shares = [step.share for step in steps]
    assert shares == sorted(set(shares))
    assert len(shares) == state.reach_seeds * len(NAMES)
    assert shares[-1] == 1
    jobs.keep(exact.key, "", steps[-1])
    shown, part = Distance(model, replace(state, whole=exact.new_name())), Distance(model, state)
    assert (part.seeds, shown.seeds) == (1, 5)
    monkeypatch.setattr(reach, "SECONDS", 1e9)
    expected = Distance(model, state)
    for name in NAMES:
        np.testing.assert_allclose(shown.lengths[name], expected.lengths[name], rtol=1e-9)
    assert shown.parameters == expected.parameters
    assert shown.recipe() == expected.recipe()
    assert "All 5 draws were made." in shown.sentence()
    assert "draws" not in expected.sentence()
    assert all(shown.laws().values())
    assert Distance(model, state).exact is None


def test_nothing_is_said_to_run_while_a_whole_result_is_read(monkeypatch):
    monkeypatch.setattr(reach, "takes_long", lambda *_, **__: True)
    exact = Distance(MODELS[0], STATE).exact
    named = replace(STATE, whole=exact.new_name())
    assert VIEW.running(MODELS[0], STATE) == VIEW.running(MODELS[0], named) != ""
    jobs.keep(exact.key, "", ExactStep(1, 0, "", {"transformer": torch.zeros(1)}))
    assert VIEW.running(MODELS[0], STATE)
    assert VIEW.running(MODELS[0], named) == ""


def test_a_comparison_of_all_draws_with_a_part_of_them_says_so():
    torchs = replace(STATE, reach_start="torch")
    assert "then with torch’s: LSTM" in what_the_start_does(MODELS[0], torchs)
    exact = Distance(MODELS[0], torchs).exact
    *_, last = jobs.all_draws(exact.argument)
    jobs.keep(exact.key, "", last)
    named = replace(torchs, whole=exact.new_name())
    assert "then with torch’s (1 draw and 5): LSTM" in what_the_start_does(MODELS[0], named)


def test_what_large_models_get_fewer_draws_for_can_be_computed_too(monkeypatch):
    monkeypatch.setattr(reach, "SECONDS", 1e9)
    large = ModelState(d_model=256, num_layers=8, d_ff=1024)
    exact = Distance(large, replace(STATE, reach_seeds=20)).exact
    assert exact.argument.seeds == 20
    assert exact.why_not == ""
    assert Distance(large, replace(STATE, reach_seeds=3)).exact is None


def test_a_job_that_is_stopped_keeps_nothing_and_a_link_says_what_is_missing():
    exact = Distance(MODELS[0], STATE).exact
    running = jobs.all_draws(exact.argument)
    step = next(running)
    assert 0 < step.share < 1
    running.close()
    jobs.keep(exact.key, "", step)
    assert not exact.is_kept
    missing = Distance(MODELS[0], replace(STATE, whole=exact.new_name()))
    assert f"{MISSING} Of 5 draws 1 is made" in missing.sentence()
    other = Distance(MODELS[0], replace(STATE, whole=exact.new_name(), reach_kernel=9))
    assert MISSING not in other.sentence()
    assert "Of 5 draws 1 is made" in other.sentence()


def test_what_all_depends_on_has_a_key_of_its_own():
    changes = ({"reach_seeds": 3}, {"reach_length": 16}, {"reach_kernel": 9}, {"reach_start": "torch"})
    states = [STATE, *(replace(STATE, **change) for change in changes), replace(STATE, attention="window")]
    assert len({Distance(model, state).exact.key for state in states for model in MODELS}) == len(states) * len(MODELS)
