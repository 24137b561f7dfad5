"""What lessons measure in the Training lens, beside the kept run, the configuration, and answers counted by hand."""

import math
from dataclasses import replace

import pytest

from tests.tfm_ui.lenses.training.asking import MODEL
from tfm_core import run_store
from tfm_core.training.config import of_task
from tfm_core.training.networks import network
from tfm_ui.lenses.training import runs
from tfm_ui.lenses.training.classify.curves import Classify
from tfm_ui.lenses.training.decode.written import Decode
from tfm_ui.lenses.training.measures import MEASURES
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

CLASSIFY = TrainingState(view="classify", labelled="textbook")
RANDOM = TrainingState(view="classify", labelled="textbook-random")
DECODE = TrainingState(view="decode")
LEARN = TrainingState()
SHOWN = {"textbook": CLASSIFY, "textbook-random": RANDOM, "reverse-decoder": DECODE, "reverse": LEARN}


def measured(name: str, state: TrainingState, model: ModelState = MODEL) -> float | str:
    return MEASURES[name](model, state)


@pytest.mark.parametrize("task", SHOWN)
def test_a_run_is_that_of_the_view_s_task(task):
    config, state = of_task(task), SHOWN[task]
    run = run_store().find(config)
    real = sum(parameter.numel() for parameter in network(config).parameters())
    assert measured("network_parameters", state) == real
    assert measured("steps_done", state) == measured("steps_planned", state) == config.steps
    assert measured("right", state) == run.points[-1].accuracy
    assert measured("held_out_loss", state) == run.points[-1].loss
    assert measured("first_loss", state) == run.points[0].loss
    assert run.points[0].step == 0
    assert measured("loss_of_guessing", state) == math.log(measured("outcomes", state))
    assert abs(measured("first_loss", state) - measured("loss_of_guessing", state)) < 0.1
    assert measured("ended_early", state) == "no"


def test_the_textbook_s_classifier_is_the_course_s():
    assert measured("network_parameters", CLASSIFY) == 182_147
    assert measured("steps_of_epoch", CLASSIFY) == math.ceil(4_000 / 64)
    assert measured("steps_planned", CLASSIFY) == 5 * measured("steps_of_epoch", CLASSIFY)
    assert measured("outcomes", CLASSIFY) == 3
    assert measured("steps_of_epoch", LEARN) == 0  # its examples are made up anew


def test_labels_are_compared_with_what_needs_no_network():
    best = max(each.accuracy for each in Classify(MODEL, CLASSIFY).baselines)
    assert best > measured("right", CLASSIFY) + 0.1
    assert measured("ahead_on_labels", CLASSIFY) == "a bag of words"
    assert measured("ahead_on_labels", RANDOM) == "neither"
    assert abs(measured("right", RANDOM) - 1 / 3) < 0.05
    assert measured("ahead_on_labels", TrainingState(view="classify", labelled="brackets")) == "the network"
    assert measured("ahead_on_labels", LEARN) == "neither"


@pytest.mark.parametrize("source", ["", "3 1 4 1 5 9 2 6 5 0", "1 2 3", "7 7 7"])
def test_what_the_decoder_writes_is_counted_one_by_one(source):
    state = replace(DECODE, source=source)
    decode = Decode(MODEL, state)
    read, written = decode.names(decode.source), decode.names(decode.decoded.written)
    assert measured("source_tokens", state) == len(read)
    assert measured("right_written", state) == sum(a == b for a, b in zip(written, read[::-1], strict=True))


def test_a_source_that_is_shorter_than_all_that_was_trained_on_is_written_wrongly():
    state = replace(DECODE, source="1 2 3")
    assert measured("right_written", state) < measured("source_tokens", state) == 3
    assert measured("right_written", DECODE) == measured("source_tokens", DECODE) == 10


def test_a_run_that_ended_early_is_told(monkeypatch):
    ended = replace(run_store().find(of_task("reverse")), problem="It diverged.")
    monkeypatch.setattr(runs, "run_of", lambda _: ended)
    assert measured("ended_early", LEARN) == "yes"


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    "state",
    [
        TrainingState(seed=77, steps=50),
        TrainingState(view="classify", labelled="authors", seed=77),
        TrainingState(view="decode", seed=77, source="x y"),
        TrainingState(view="compare", task="brackets"),
        TrainingState(heads=8, width=16, layers=4, rate=10),
    ],
)
def test_each_has_a_value_of_what_nobody_has_trained(name, state):
    value = measured(name, state)
    assert isinstance(value, (int, float, str))
    if name == "steps_done" and state.seed:
        assert value == 0
