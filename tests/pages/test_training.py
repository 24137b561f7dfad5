"""The button that trains, in each of its states, what is told, and weights to take along: the worker is played."""

import json
import re
from contextlib import nullcontext
from dataclasses import asdict, replace

import pytest
import torch
from safetensors.torch import save

from tests.pages.measuring import bars, press, said
from tests.pages.test_app import parameter, plain, start, text_on, widget
from tests.pages.test_plain_text import LIVELY
from tfm_core import run_store
from tfm_core.training.config import of_task, read_name
from tfm_core.training.folder import Folder
from tfm_core.training.run import Progress
from tfm_core.training.shelf import Shelf
from tfm_core.training.train import train
from tfm_core.training.weights_file import as_file, from_file
from tfm_ui.jobs import sessions
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane

TRAIN, SHORT = "_training_train", of_task("reverse", seed=5, steps=50)
LINK = {"training_seed": 5, "training_steps": 50}


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch, tmp_path, queue):
    monkeypatch.setattr(run_store(), "shelf", Shelf("Trained runs", Folder(tmp_path / "runs")))
    monkeypatch.setattr(run_store(), "_memory", type(run_store()._memory)())
    monkeypatch.setattr(sessions, "_queues", [queue])


@pytest.fixture(scope="module")
def steps():
    """What a worker says of the short run: after some steps, and at its end."""
    part = list(train(replace(SHORT, steps=20)))[-1].run
    whole = list(train(SHORT))[-1].run
    return Progress(0.4, 2.0, "step 20 of 50", replace(part, config=SHORT)), Progress(1.0, 0.0, "done", whole)


def lens(**query):
    return start("training", **(LINK | query))


def test_it_is_trained_followed_and_kept(queue, steps):
    app = lens()
    assert "○ Random weights: not trained yet" in said(app)
    assert "Nothing is trained yet: with random weights" in said(app)
    press(app, TRAIN)
    assert bars(app) == ["It starts in a moment."]
    queue.ready()
    assert queue.running().argument == SHORT
    queue.step(0.4, step=steps[0])
    app.run()
    assert bars(app)[0].startswith("Training: step 20 of 50")
    assert "After 20 steps" in said(app)
    queue.step(1.0, step=steps[1])
    queue.finish()
    app.run()
    assert not bars(app)
    assert widget(app, TRAIN).disabled
    assert "Trained: 50 steps" in said(app)
    assert "◐ Trained on reverse · seed 5 · 1 × 1" in said(app)
    assert run_store().find(SHORT).is_complete


def test_two_who_press_at_once_train_once_and_a_third_sees_it_at_once(queue, steps):
    first, second = lens(), lens()
    press(first, TRAIN)
    press(second, TRAIN)
    queue.ready()
    queue.step(1.0, step=steps[1])
    queue.finish()
    assert len(queue.worker.said) == 1
    third = lens()
    assert "Trained: 50 steps" in said(third)


def test_what_was_stopped_stays_and_is_continued(queue, steps):
    app = press(lens(), TRAIN)
    queue.ready()
    queue.step(0.4, step=steps[0])
    app.run()
    press(app, f"_training_stop_{queue.find('', 'train', SHORT).number}")
    assert bars(app) == ["Stopping: what is learned stays."]
    queue.finish(stopped=True)
    app.run()
    assert "⚠ Stopped." in said(app)
    assert widget(app, TRAIN).label == "Continue"
    assert "20 of 50 steps are made." in said(app)
    assert "◐ Partly trained" in said(app)
    assert run_store().weights(SHORT.name) is None  # other lenses show complete runs alone


def test_a_killed_worker_is_a_sentence_and_the_next_press_a_fresh_run(queue, steps):
    app = press(lens(), TRAIN)
    queue.ready()
    queue.worker.kill()
    app.run()
    assert not app.exception
    assert "⚠ The process that worked on it was ended by signal 9" in said(app)
    press(app, TRAIN)
    queue.ready()
    queue.step(1.0, step=steps[1])
    queue.finish()
    app.run()
    assert "Trained: 50 steps" in said(app)


def test_a_full_disk_is_a_sentence_and_the_run_is_there(queue, steps, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path / "file"))
    app = press(lens(), TRAIN)
    queue.ready()
    queue.step(1.0, step=steps[1])
    queue.finish()
    app.run()
    assert "Trained runs are kept in memory until the server ends" in said(app)
    assert "Trained: 50 steps" in said(app)


def test_a_corrupt_store_is_a_fresh_run(queue, steps, tmp_path):
    run_store().keep(steps[1].run)
    for file in (tmp_path / "runs").iterdir():
        file.write_bytes(b"no run")
    run_store()._memory.clear()
    app = lens()
    assert not app.exception
    assert not widget(app, TRAIN).disabled


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"training_task": "sort", "training_steps": 6000, "training_layers": 4, "training_width": 128}, "120 s"),
        ({"training_positional": "rope", "training_width": 16, "training_heads": 16}, "it can be"),
    ],
)
def test_what_cannot_be_trained_here_is_a_sentence(query, sentence):
    app = start("training", **query)
    assert not app.exception
    assert sentence in text_on(app)


def test_the_weights_are_shown_in_all_lenses():
    app = start("training")
    press(app, "_training_use")
    assert app.query_params["weights"] == "reverse"


def test_a_file_of_weights_comes_back_with_a_name_of_its_own():
    run = run_store().find(of_task("reverse"))
    loaded = from_file(as_file(run))
    run_store().keep(loaded)
    app = start("heads", weights=loaded.config.name)
    assert not app.exception
    assert loaded.config.name in text_on(app)
    assert read_name(loaded.config.name).file


def test_a_source_that_cannot_be_read_is_told_beside_its_control():
    """The sentence is not below the picture, which shows another source."""
    app = start("training", training_view="decode", training_source="hello world")
    assert not app.exception
    told = "“hello” is not among the tokens"
    assert told in text_on(app)
    assert [told in warning.value for warning in app.warning] == [True]


def test_what_was_loaded_is_confirmed_where_it_was_and_not_as_a_warning():
    content = as_file(run_store().find(of_task("reverse")))
    app = start("training")
    app.file_uploader(key="_training_file").upload("weights.safetensors", content, "application/octet-stream").run()
    assert not app.exception
    assert not app.warning
    (told,) = [plain(done.value) for done in app.success]
    assert told.startswith("These weights are in all other lenses now: reverse")


def test_the_sidebar_says_that_its_model_does_not_act_in_training():
    for lens, words in (("training", "it does not act on this page"), ("model", "shared by all lenses")):
        assert any(words in each.value for each in start(lens).sidebar.markdown)


def bring(app, content: bytes, name: str = "weights.safetensors"):
    return app.file_uploader(key="_training_file").upload(name, content, "application/octet-stream").run()


def test_while_the_server_is_busy_a_file_is_not_lost(monkeypatch):
    content = as_file(run_store().find(of_task("reverse")))
    full = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=0)
    app = start("training")
    places = [full.ask("somebody", Lane.SLOW)]
    with monkeypatch.context() as patch:
        patch.setattr("tfm_ui.visitors.turn.LIMITER", full)
        patch.setattr("tfm_ui.page.upload.MANY", 0)  # so that the file waits for the slow lane
        for page in ("frame", "lens_page"):  # pages are not what waits here
            patch.setattr(f"tfm_ui.page.{page}.turn_to_compute", lambda **_: nullcontext())
        bring(app, content)
        assert not app.exception
        assert "The server is busy" in plain(app.warning[0].value)
        press(app, "_training_file_again")
        assert app.warning
        app.file_uploader(key="_training_file").set_value(None).run()
        assert "_training_file_again" not in [button.key for button in app.button]
        bring(app, content)
    full.leave(*places)
    press(app, "_training_file_again")
    assert not app.warning
    assert app.success
    assert "_training_file_again" not in [button.key for button in app.button]


@pytest.mark.parametrize("name", ["**bold** $x$ <b>.safetensors", "x" * 300, "a\nb\u202e\0", "[a](http://evil)"])
def test_names_in_and_of_a_file_are_text(name):
    tensors = {name: torch.zeros(1)}
    header = {"run": json.dumps({"config": asdict(SHORT)})}
    app = bring(start("training"), save(tensors, metadata=header), name)
    assert not app.exception
    (told,) = [box.value for box in app.warning]
    assert not LIVELY.search(told)
    assert "**bold" not in told
    assert len(told) < 500
    assert plain(told).isprintable()


def test_who_sees_loaded_weights_is_said_beside_the_box_and_so_it_is():
    run = run_store().find(of_task("reverse"))
    app = bring(start("training"), as_file(run))
    assert any("Whoever has the link of this page sees these weights" in each.value for each in app.caption)
    name = parameter(app, "weights")
    assert re.fullmatch("reverse,file=[0-9a-f]{32}", name)
    assert name in text_on(start("heads", weights=name))


def test_weights_that_diverged_are_not_called_missing(steps):
    run_store().keep(replace(steps[1].run, problem="The loss was no number after 12 steps."))
    run_store().keep(replace(steps[0].run, problem="It diverged."))
    app = start("heads", weights=SHORT.name)
    assert not app.exception
    told = plain(" ".join(box.value for box in app.info))
    assert "not on this server" not in told
    assert "ended early. It diverged." in told


def test_a_source_of_a_link_is_text_where_it_is_said_to_be_unknown():
    app = start("training", training_view="decode", training_source="[x](http://evil) **b**")
    assert not app.exception
    (told,) = [box.value for box in app.warning if "not among the tokens" in plain(box.value)]
    assert not LIVELY.search(told)


def test_where_loaded_weights_cannot_be_kept_it_is_said(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    content = as_file(run_store().find(of_task("reverse")))
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path / "file", where="the server's folder"))
    app = bring(start("training"), content)
    assert not app.exception
    assert "the server's folder cannot be written (File exists)." in plain(app.success[0].value)
