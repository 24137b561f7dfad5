"""A run of training in a notebook: its numbers are the run's, and the slider is heard and moved."""

from dataclasses import replace

import numpy as np
import pytest

import attention_lab
from attention_lab.training_pictures import NEWEST
from tests.attention_lab.test_pictures import decoded
from tests.tfm_ui.lenses.training.asking import MODEL
from tfm_core import TASKS, run_store
from tfm_core.training.config import of_task
from tfm_core.training.train import train
from tfm_ui.lenses.training.learn.learned import Learn
from tfm_ui.lenses.training.state import TrainingState

CONFIG = of_task("reverse")
UNTRAINED = 4711  # a seed with which nothing comes with the app


@pytest.fixture
def picture():
    return attention_lab.training(CONFIG)


def test_maps_are_those_of_the_run(picture):
    run = run_store().find(CONFIG)
    header, numbers = decoded(picture.first)
    maps = np.frombuffer(numbers, np.float32).reshape(len(run.snapshots), 10, 10)
    np.testing.assert_array_equal(maps, run.maps["layers.0.self_attention.weights"][:, 0, 0].numpy())
    assert header["snapshots"] == list(run.snapshots)
    assert header["asked"] == header["source"][::-1] == header["said"][-1]
    picture.example = 1
    _, numbers = decoded(picture.first)
    maps = np.frombuffer(numbers, np.float32).reshape(-1, 10, 10)
    np.testing.assert_array_equal(maps, run.maps["layers.0.self_attention.weights"][:, 1, 0].numpy())


def test_it_says_what_the_app_says(picture):
    panel = Learn(MODEL, TrainingState(task="reverse"))
    assert (picture.parts[0]["title"], picture.parts[0]["sentence"]) == (panel.title, panel.sentence())


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_a_picture(task):
    picture = attention_lab.training(of_task(task))
    assert picture.parts[0]["sentence"]
    assert decoded(picture.first)[0]["about"] == picture.parts[0]["sentence"]


def test_the_picture_never_asks_for_more_of_the_run():
    picture = attention_lab.training(replace(CONFIG, seed=UNTRAINED))
    assert "Nothing is trained yet" in picture.parts[0]["sentence"]
    assert decoded(picture.first)[0]["complete"]


def test_the_slider_is_heard_and_moved(picture):
    before, told = picture.first, picture.parts[0]
    assert told["sets"] == {"training_step": "stands"}
    assert told["local"] == {"training_step": NEWEST}
    picture.set_state({"stands": 100})  # the reader drags it
    assert picture.step == 100
    assert picture.parts[0]["header"] == told["header"]  # so it stands where it is
    picture.step = 200
    assert picture.stands == 200
    assert picture.parts[0]["local"] == {"training_step": 200}
    assert picture.parts[0]["header"] != told["header"]  # so the script moves it
    assert picture.first is before  # the numbers are not sent again


def test_a_run_is_drawn_while_it_learns():
    config = replace(CONFIG, steps=60, seed=UNTRAINED)
    picture, shapes = attention_lab.training(config), []
    for progress in train(config):
        picture.run = progress.run
        shapes.append(picture.parts[0]["shape"])
    assert shapes[-1] == "step 60 of 60"
    header, _ = decoded(picture.first)
    assert header["done"] == 60
    assert picture.parts[0]["title"].endswith("how it was learned")


def test_a_page_and_a_png_of_a_run(picture):
    page = picture.to_html()
    assert "Plotly" in page
    last = picture.png()
    assert last.startswith(b"\x89PNG")
    picture.step = 0
    assert picture.png() != last  # it shows the step at which the slider stands


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"run": "reverse"}, "expected a Run or a TrainingConfig, got str"),
        ({"step": -1}, "expected a step of 0 to 20000, got -1"),
        ({"example": 99}, "example: expected a number of 0 to"),
    ],
)
def test_what_cannot_be_shown_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        attention_lab.training(**{"run": CONFIG} | given)
