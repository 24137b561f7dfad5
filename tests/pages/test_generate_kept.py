"""The button that measures writing with the cache and without, in each of its states: a worker's words are played."""

from dataclasses import replace

import pytest

from tests.pages.measuring import bars, press, said
from tests.pages.test_app import start, widget
from tests.tfm_ui.lenses.generate.examples import report_of
from tests.tfm_ui.store.empty import empty_store
from tfm_core.profiling.decoding import DecodingProgress
from tfm_ui.lenses.generate.kept.measured import measurements
from tfm_ui.live import measurements as in_store
from tfm_ui.state.model_state import ModelState

BUTTON = "_generate_measure"
MODEL = {"architecture": "decoder", "tokenizer": "byte", "text": "to be", "positional": "none", "d_model": "64"}
STATE = ModelState(**{**MODEL, "d_model": 64})


@pytest.fixture(autouse=True)
def nothing_is_kept():
    with empty_store(in_store):
        yield


def view(**more):
    return start("generate", **{**MODEL, "generate_view": "kept", "generate_steps": "3", **more})


def test_it_is_measured_kept_and_named_in_the_link(queue):
    report = report_of(STATE, (0.001, 0.004), name="fff001")
    app = view()
    assert widget(app, BUTTON).label == "Measure"
    assert "Nothing of this shape is measured here yet" in said(app)
    press(app, BUTTON)
    queue.ready()
    queue.step(0.5, step=DecodingProgress(0.5, 8.0, "round 2 of 9", replace(report, complete=False)))
    app.run()
    assert bars(app) == ["Measuring: round 2 of 9; about 8 s left."]
    queue.step(1.0, step=DecodingProgress(1.0, 0.0, "done", report))
    queue.finish()
    app.run()
    app.run()
    assert not app.exception
    assert app.query_params["generate_run"] == "fff001"
    assert widget(app, BUTTON).label == "Measure again"
    assert "4× as fast with it" in said(app)
    assert "Measured 25 Nov 2026, 20:00 UTC" in said(app)
    assert measurements.find(report.plan, "fff001") == report


def test_what_was_stopped_is_not_kept(queue):
    model = {"num_layers": "3"}
    app = press(view(**model), BUTTON)
    queue.ready()
    report = report_of(ModelState(**{**MODEL, "d_model": 64, "num_layers": 3}), (0.001, 0.004))
    queue.step(0.5, step=DecodingProgress(0.5, 8.0, "round 2 of 9", replace(report, complete=False)))
    app.run()
    press(app, f"_generate_decoding_stop_{queue.running().number}")
    assert bars(app) == ["Stopping."]
    queue.finish(stopped=True)
    app.run()
    assert "A measurement that has not come to its end is not kept." in said(app)
    assert measurements.find(report.plan) is None


def test_what_takes_too_long_is_not_measured(queue, monkeypatch):
    monkeypatch.setattr("tfm_ui.lenses.generate.kept.measure_bar.LONGEST", 0.001)
    app = view()
    assert widget(app, BUTTON).disabled
    assert "too long for others who wait" in said(app)


@pytest.mark.parametrize("name", ["nobody", "<b>"])
def test_a_link_that_names_what_is_not_here_shows_formulas_alone(queue, name):
    app = view(num_layers="5", generate_run=name)
    assert not app.exception
    assert "generate_run" not in app.query_params
    assert "The measurement that the link names is not on this server." in said(app)
    assert "Nothing of this shape is measured here yet" in said(app)
