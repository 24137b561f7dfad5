"""While the store does not answer: a sentence where its things are shown, and all else works."""

import pytest

from tests.pages.measuring import MEASURE, lens, press, report, said
from tests.pages.test_app import start
from tests.tfm_ui.store.redis_server import free_port
from tfm_core import run_store
from tfm_core.profiling import Progress
from tfm_core.training.folder import Folder
from tfm_core.training.shelf import Shelf
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.live import measurements as in_store
from tfm_ui.store import runs, shared
from tfm_ui.store.redis_store import RedisStore
from tfm_ui.store.runs import StorePlace

AWAY = "and it does not answer. The next look asks it again."


def in_boxes(app) -> str:
    return " ".join(box.value for box in (*app.info, *app.warning, *app.error)).replace("\\", "")


@pytest.fixture
def away(monkeypatch):
    """Where Redis should be, nothing is."""
    redis = RedisStore(f"redis://127.0.0.1:{free_port()}")
    with monkeypatch.context() as patch:
        for module in (in_store, uploads, runs, shared):
            patch.setattr(module, "store", lambda: redis)
        patch.setattr(run_store(), "shelf", Shelf("Trained runs", StorePlace()))
        yield patch
    redis.close()


def test_a_link_keeps_the_name_of_its_measurement_which_comes_back(queue, away):
    app = lens(profiling_run="abc123")
    assert not app.exception
    assert AWAY in said(app)
    assert app.query_params["profiling_run"] == "abc123"
    assert "is not on this server" not in said(app)
    press(app, MEASURE)
    queue.ready()
    made = report(queue)
    queue.finish()
    away.undo()
    measurements.keep(made)
    app.run()
    assert AWAY not in said(app)
    assert "in 12.3 s" in said(app)
    assert app.query_params["profiling_run"] == "abc123"


def test_what_is_measured_meanwhile_ends_its_job(queue, away):
    app = press(lens(), MEASURE)
    queue.ready()
    queue.step(1.0, step=Progress(1.0, 0.0, "done", report(queue)))
    queue.finish()
    app.run()
    assert not app.exception
    assert AWAY in said(app)


def test_an_upload_is_not_said_to_be_gone(away):
    app = start("clinic", clinic_pasted="", clinic_upload="0123456789abcdef" * 2)
    assert not app.exception
    assert AWAY in in_boxes(app)


def test_weights_are_not_said_to_be_missing_and_those_that_ship_are_there(away):
    app = start("heads", weights="reverse,seed=78")
    assert not app.exception
    assert "cannot be looked up now" in in_boxes(app)
    assert AWAY in in_boxes(app)
    shown = start("heads", weights="reverse")
    assert not shown.exception
    assert "cannot be looked up now" not in in_boxes(shown)


def test_the_row_that_trains_says_so(away):
    app = start("training", training_seed=5, training_steps=50)
    assert not app.exception
    assert AWAY in said(app)


def test_a_folder_that_can_be_read_is_no_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(run_store(), "shelf", Shelf("Trained runs", Folder(tmp_path)))
    assert "⚠" not in said(start("training", training_seed=5, training_steps=50))
