"""The view "finetune": the button in its states, what it keeps, and what stands where a run is missing."""

from dataclasses import replace

import pytest

from tests.pages.measuring import bars, press, said
from tests.pages.test_app import plain, start, widget
from tests.tfm_core.training.tuned import tuned
from tfm_core.training.compare.finetuning.kept import kept_run
from tfm_core.training.compare.finetuning.outcome import Tuning
from tfm_core.training.compare.finetuning.tuning import TuningStep
from tfm_core.training.folder import Folder
from tfm_core.training.store import run_store
from tfm_ui.lenses.training.finetune import results

BUTTON = "_training_finetune"
ASKED = Tuning(task="speech", way="lora-2", examples=50, seed=9)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch, tmp_path, queue):
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path / "here"))

    def latest(name, argument):
        job = queue.find("", name, argument)
        return job.step if job and job.under_way else None

    monkeypatch.setattr(results.sessions, "latest", latest)


def lens(**more):
    asked = {"tuned": ASKED.task, "way": ASKED.way, "shots": str(ASKED.examples), "seed": str(ASKED.seed)} | more
    return start("training", training_view="finetune", **{f"training_{name}": value for name, value in asked.items()})


def test_a_run_is_trained_shown_as_it_grows_and_kept(queue):
    app = lens()
    assert not app.exception
    assert any("Nobody has trained this run with seed 9 yet" in plain(note.value) for note in app.info)
    assert widget(app, BUTTON).label == "Fine-tune"
    press(app, BUTTON)
    queue.ready()
    assert queue.running().argument == ASKED
    begun = replace(tuned(ASKED, 0.5), accuracy=None, after=None, moved=(), maps={})
    queue.step(0.4, step=TuningStep(0.4, 3.0, "step 24 of 60", begun))
    app.run()
    assert bars(app) == ["Fine-tuning: step 24 of 60; about 3 s left."]
    assert "held-out labels are right so far" in said(app)
    queue.step(
        1.0,
        step=TuningStep(1.0, 0.0, "done", replace(tuned(ASKED, 0.75), maps=tuned(replace(ASKED, seed=0), 0.5).maps)),
    )
    queue.finish()
    app.run()
    assert not app.exception
    assert not bars(app)
    assert "seed 9: after 60 steps and 2.5 s of training 75.0% of all held-out labels are right" in said(app)
    assert widget(app, BUTTON).label == "Fine-tune again"
    assert kept_run(ASKED).accuracy == 0.75


def test_what_was_stopped_is_not_kept(queue):
    app = press(lens(), BUTTON)
    queue.ready()
    begun = replace(tuned(ASKED, 0.5), accuracy=None, after=None, moved=(), maps={})
    queue.step(0.4, step=TuningStep(0.4, 3.0, "step 24 of 60", begun))
    app.run()
    press(app, f"_training_finetune_stop_{queue.running().number}")
    queue.finish(stopped=True)
    app.run()
    assert "⚠ Stopped. A run that has not come to its end is not kept." in said(app)
    assert kept_run(ASKED) is None


def test_runs_that_come_with_the_app_are_shown_at_once(queue):
    app = lens(seed="0")
    assert not app.exception
    assert "It comes with the app" in said(app)
    assert "LoRA, rank 2, 50 examples, seed 0: after 60 steps" in said(app)
    assert "It has never seen a label" in said(app)


def test_maps_that_do_not_come_along_name_the_button(queue):
    app = lens(seed="1")
    assert any("The maps of seed 1 do not come with the app" in plain(note.value) for note in app.info)


def test_where_no_grid_is_there_the_command_is_named(queue, monkeypatch):
    for module in ("results", "tune_bar"):
        monkeypatch.setattr(f"tfm_ui.lenses.training.finetune.{module}.shipped_grid", lambda task: None)
    app = lens()
    assert not app.exception
    assert any("python -m tfm_core.training finetune" in plain(note.value) for note in app.info)
