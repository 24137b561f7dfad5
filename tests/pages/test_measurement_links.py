"""Which measurement a link shows, and what undo and other settings make of it."""

from dataclasses import replace

import pytest

from tests.pages.measuring import MEASURE, PAGE, came, lens, press, report, said
from tests.pages.test_app import start, widget
from tfm_core.profiling import Row, Size
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live import measurements as in_store
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.kinds import MEASUREMENTS


def test_a_link_to_a_measurement_that_is_gone_says_so():
    assert "The measurement that the link names is not on this server." in said(lens(profiling_run="gone"))
    assert "not on this server" not in said(lens())


def test_undo_passes_over_what_was_measured_since(queue):
    app = lens()
    widget(app, "profiling_rounds").set_value(12).run()
    press(app, MEASURE)
    queue.ready()
    came(queue, 1.0, report(queue))
    queue.finish()
    app.run()
    assert widget(app, "_undo").help.replace("\\", "") == "Undoes: profiling_rounds 12 → 9"
    press(app, "_undo")
    assert "profiling_run" not in app.query_params  # of 9 rounds nothing was measured
    assert widget(app, "_undo").disabled


@pytest.fixture
def stored(queue):
    """Two measurements of one plan, and a later one of another."""
    press(lens(), MEASURE)
    queue.ready()
    first = report(queue, id="first")
    other = replace(first.plan, rows=(Row("with weights", Size(d_model=8, num_heads=1, num_layers=1, seq_len=1)),))
    queue.finish()
    for measurement in (first, replace(first, id="second", seconds=99.0), replace(first, id="third", plan=other)):
        measurements.keep(measurement)
    return first


@pytest.mark.parametrize(
    ("query", "shown", "told"),
    [
        ({"profiling_run": "first"}, "in 12.3 s", False),
        ({"profiling_run": "third"}, "in 99.0 s", False),  # of another plan: the latest of this one
        ({}, "in 99.0 s", False),
        ({"profiling_run": "gone"}, "in 99.0 s", True),
    ],
)
def test_the_link_names_the_measurement_that_is_shown(stored, query, shown, told):
    app = lens(**query)
    assert not app.exception
    assert shown in said(app)
    assert app.query_params["profiling_run"] == ("first" if shown == "in 12.3 s" else "second")
    assert any("This is the latest one of the same settings" in warning.value for warning in app.warning) == told
    assert widget(app, "_undo").disabled  # by nobody's act


def test_back_at_the_same_settings_the_same_measurement_is_shown(stored):
    app = lens(profiling_run="first")
    widget(app, "profiling_rounds").set_value(12).run()
    assert "Not measured yet" in said(app)
    assert "profiling_run" not in app.query_params  # what is not measured has no name
    twelve = replace(stored.plan, setup=replace(stored.plan.setup, rounds=12))
    measurements.keep(replace(stored, id="of 12", plan=twelve))
    app.run()
    assert app.query_params["profiling_run"] == "of 12"
    widget(app, "profiling_rounds").set_value(9).run()
    assert app.query_params["profiling_run"] == "first"
    assert "in 12.3 s" in said(app)


def test_how_another_sessions_job_ended_changes_nothing_of_a_link(queue):
    app = press(lens(), MEASURE)
    queue.ready()
    measurements.keep(report(queue, id="earlier", seconds=5.0))
    came(queue, 0.4, report(queue, complete=False))
    press(app, f"_profiling_stop_{queue.running().number}")
    queue.finish(stopped=True)
    opened = lens(profiling_run="earlier")  # the same visitor, later
    assert opened.query_params["profiling_run"] == "earlier"
    assert "Stopped" not in said(opened)


def test_a_measurement_that_another_visitor_made_is_named_in_the_link_at_once(stored):
    for view in ("compare", "parts", "roofline"):
        app = start(PAGE, profiling_view=view)
        assert "profiling_run" not in app.query_params
        plan = plan_of(ModelState(), ProfilingState(view=view))
        measurements.keep(replace(stored, id=f"of {view}", plan=plan, measured=()))
        app.run()
        assert app.query_params["profiling_run"] == f"of {view}"
        (key,) = (key for key in in_store.store().keys(MEASUREMENTS) if key.endswith(f"-of {view}"))
        in_store.store().remove(MEASUREMENTS, key)


def test_a_link_that_names_nothing_that_is_here_loses_the_name(stored):
    app = start(PAGE, profiling_view="compare", profiling_run="gone")
    assert "The measurement that the link names is not on this server." in said(app)
    assert "profiling_run" not in app.query_params
