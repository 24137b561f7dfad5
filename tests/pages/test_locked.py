"""What weights fix is a line and its rest in the sidebar, with the button that unlocks it; no box is there for it."""

import re

import numpy as np
import pytest

from tests.pages.test_app import shown, start, text_on, widget
from tests.tfm_ui.given_weights import given, softmaxed
from tfm_core import ACTIVATIONS, POSITIONAL
from tfm_ui.page import locked
from tfm_ui.state.model_state import ModelState

SIZES = ("num_layers", "num_heads", "d_model", "seed", "positional", "causal", "norm", "activation", "tokenizer")
WEIGHTS = ["lab-gpt", "minilm", "reverse", "dates", "reverse-decoder"]


def plain_text_on(app) -> str:
    """All text of the page that is no explanation, without tags."""
    return re.sub(r"<[^>]+>", "", text_on(app))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_all_that_is_fixed_is_said_in_a_line_and_its_rest(weights):
    app = start(weights=weights)
    model, said = ModelState(weights=weights), plain_text_on(app)
    assert f"{locked.line(model)}" in said
    assert locked.line(model).endswith(": fixed by these weights")
    assert [each.label for each in app.sidebar.expander] == [locked.summary(model)]
    for name, value in locked.rest(model):
        assert f"{name} {value}" in said
    drawn = {
        each.key for kind in ("text_input", "number_input", "selectbox", "toggle") for each in app.sidebar.get(kind)
    }
    assert not drawn & {*SIZES, "_causal", "architecture"}
    assert not [each for each in app.sidebar.text_input if each.disabled]


def test_the_button_brings_back_what_was_chosen_for_random_weights_and_undo_takes_it_back():
    app = start(num_heads="8", positional="rope", seed="5")
    before = shown(app)
    widget(app, "weights").set_value("lab-gpt").run()
    widget(app, "_random_weights").click().run()
    assert not app.exception
    assert "weights" not in app.query_params
    assert {name: widget(app, name).value for name in ("num_heads", "positional", "seed")} == {
        "num_heads": 8, "positional": "rope", "seed": 5,
    }  # fmt: skip
    np.testing.assert_array_equal(shown(app), before)
    widget(app, "_undo").click().run()
    assert app.query_params["weights"] == "lab-gpt"


def test_of_a_file_it_says_that_they_are_from_the_file():
    weights = given(softmaxed(2, 3, 4, 5, 5)).weights
    app = start(weights=weights)
    said = plain_text_on(app)
    assert "2 layers × 4 heads: from the file" in said
    assert "d_model" not in locked.line(ModelState(weights=weights))
    assert [each.label for each in app.sidebar.expander] == ["5 tokens\u00a0…"]
    assert "Tokens 1 2 3 4 5" in said
    assert not [each for each in app.sidebar.text_area if each.key == "text"]
    widget(app, "_random_weights").click().run()
    assert widget(app, "text").value == ModelState.text


def test_decoders_are_always_causal():
    assert dict(locked.rest(ModelState(weights="lab-gpt")))["Causal"] == "yes. Decoders are always causal."
    assert widget(start(architecture="decoder"), "_causal").disabled


def test_an_encoder_says_whether_it_looks_ahead_and_nobodys_seed_is_made_up():
    rest = dict(locked.rest(ModelState(weights="minilm")))
    assert rest["Causal"] == "no: each token sees all tokens of its text"
    assert "Seed" not in rest
    assert "Seed" in dict(locked.rest(ModelState(weights="reverse")))


@pytest.mark.parametrize("positional", POSITIONAL)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_summary_is_in_words(positional, activation):
    said = locked.summary(ModelState(positional=positional, activation=activation))
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9]* positions, pre-norm, [A-Za-z_]+\u00a0…", said)


def test_the_summary_of_lab_gpt():
    assert locked.summary(ModelState(weights="lab-gpt")) == "sinusoidal positions, pre-norm, GELU\u00a0…"
    assert locked.summary(ModelState(positional="rope")).startswith("RoPE positions")
