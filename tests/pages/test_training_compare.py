"""The button that compares networks, in each of its states: what the worker says is played."""

import pytest

from tests.pages.measuring import bars, press, said
from tests.pages.test_app import plain, start, widget
from tests.tfm_core.training.comparisons import comparison
from tfm_core.training.compare import ComparisonStep
from tfm_core.training.folder import Folder
from tfm_core.training.outcomes import outcome_store
from tfm_core.training.shelf import Shelf
from tfm_ui.lenses.training import outcomes

BUTTON = "_training_compare"


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch, tmp_path, queue):
    monkeypatch.setattr(outcome_store(), "shelf", Shelf("Comparisons", Folder(tmp_path / "here")))
    monkeypatch.setattr(outcome_store(), "shipped", tmp_path / "shipped")
    monkeypatch.setattr(outcome_store(), "_memory", {})
    monkeypatch.setattr(outcomes.sessions, "latest", lambda name, argument: _latest(queue, name, argument))


def _latest(queue, name, argument):
    job = queue.find("", name, argument)
    return job.step if job and job.under_way else None


def lens(view="compare"):
    return start("training", training_view=view)


def comes(queue, share, made):
    queue.step(share, step=ComparisonStep(share, 8.0, "run 2 of 57, step 100 of 400", made))


PART = comparison({"learned": [0.9], "lstm": [0.2]})
WHOLE = comparison({"learned": [0.9] * 3, "lstm": [0.95] * 3})


def test_it_is_computed_shown_as_it_grows_and_kept(queue, tmp_path):
    app = lens()
    assert "○ Nothing is computed yet" in said(app)
    assert widget(app, BUTTON).label == "Compare"
    press(app, BUTTON)
    assert bars(app) == ["It starts in a moment."]
    queue.ready()
    comes(queue, 0.4, PART)
    app.run()
    assert bars(app) == ["Comparing: run 2 of 57, step 100 of 400; about 8 s left."]
    assert "Not all runs have ended yet." in said(app)
    comes(queue, 1.0, WHOLE)
    queue.finish()
    app.run()
    assert not app.exception
    assert not bars(app)
    assert "The LSTM, 95%, is ahead of every transformer here" in said(app)
    assert widget(app, BUTTON).label == "Compare again"
    assert outcome_store().find("reverse") == WHOLE
    assert (tmp_path / "here" / "compare-reverse.json").exists()


def test_what_was_stopped_is_not_kept_and_what_was_there_stays(queue):
    outcome_store().keep(WHOLE)
    app = press(lens(), BUTTON)
    queue.ready()
    comes(queue, 0.4, PART)
    app.run()
    assert "is ahead of every transformer here" in said(app)
    press(app, f"_training_compare_stop_{queue.running().number}")
    assert bars(app) == ["Stopping."]
    queue.finish(stopped=True)
    app.run()
    assert "⚠ Stopped. A comparison that has not come to its end is not kept." in said(app)
    assert outcome_store().find("reverse") == WHOLE


def test_longer_sequences_are_of_the_same_job_and_a_link_of_earlier_days_opens_them(queue):
    app = press(lens("lengths"), BUTTON)
    assert len(queue.of("")) <= 1
    assert dict(app.query_params) == {"training_view": "compare", "training_tested": "longer"}
    assert bars(widget(app, "training_tested").set_value("trained length").run())


def test_what_takes_too_long_names_the_command(queue, monkeypatch):
    monkeypatch.setattr("tfm_ui.lenses.training.compare_bar.LONGEST", 1.0)
    app = lens()
    assert widget(app, BUTTON).disabled
    assert "python -m tfm_core.training compare reverse" in plain(app.info[0].value)
