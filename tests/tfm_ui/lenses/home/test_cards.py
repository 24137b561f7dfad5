"""Home has a card for each lens, and that of Training shows the run on which the lens opens."""

import base64

import numpy as np
import pytest

from tfm_core import STORE
from tfm_ui.lenses import lenses
from tfm_ui.lenses.home import LENS
from tfm_ui.lenses.home.cards import CARDS, LEARNED, home_training
from tfm_ui.lenses.home.next_token import COMES_NEXT
from tfm_ui.lenses.training.runs import config_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def test_each_lens_has_a_card_with_a_picture():
    assert {*CARDS, *COMES_NEXT} == {lens.name for lens in lenses()} - {"home"}
    assert {*LENS.pictures} == {"home_next", *(f"home_{lens}" for lens in CARDS)}


def test_the_card_of_training_shows_the_run_on_which_that_lens_opens_whatever_the_sidebar_says():
    assert config_of(TrainingState()) == LEARNED
    run = STORE.find(LEARNED)
    headers = [
        home_training(ModelState(**model), LensState())[0] for model in ({}, {"weights": "lab-gpt"}, {"seed": 3})
    ]
    assert headers[0] == headers[1] == headers[2]
    line = headers[0]["figure"]["data"][0]
    x, y = (np.frombuffer(base64.b64decode(line[axis]["bdata"]), line[axis]["dtype"]) for axis in "xy")
    assert [*zip(x, y, strict=True)] == [(point.step, pytest.approx(point.accuracy)) for point in run.points]
    for said in (LEARNED.task, "not the model in the sidebar", formats.percent(run.last.accuracy)):
        assert said in headers[0]["about"]
    assert f"“{LEARNED.task}”" in CARDS["training"][0]
