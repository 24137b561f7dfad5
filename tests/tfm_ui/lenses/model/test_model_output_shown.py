"""The view "output": its pictures hold the numbers of its tables, its questions take for granted what is so."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import drawn, ends, lines, names
from tests.tfm_ui.pictures.scale_checks import floats
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_ui.lenses.model.output import pictures
from tfm_ui.lenses.model.output import questions as answers
from tfm_ui.lenses.model.output.lens import AtToken, layer_by_layer
from tfm_ui.lenses.model.output.norm import final_norm
from tfm_ui.lenses.model.output.numbers import likeliest
from tfm_ui.lenses.model.output.tied import tied_and_untied
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.canvas import encode
from tfm_ui.state.model_state import ModelState

VIEW = ModelLensState(view="output")
MODELS = [
    ModelState(),
    ModelState(norm="post", text="a", causal=False),
    ModelState(architecture="encoder-decoder", tokenizer="byte", target="ja"),
]
every_model = pytest.mark.parametrize("model", MODELS)
asked = {
    question.name: (ModelState(**question.model), ModelLensState(**question.page)) for question in answers.QUESTIONS
}


@every_model
@pytest.mark.parametrize("temperature", [0.1, 1.0, 5.0])
def test_bars_are_the_probabilities_and_their_texts_the_way_to_them(model, temperature):
    state = replace(VIEW, temperature=temperature, top=5)
    shown = likeliest(model, state)
    header, _ = pictures.likeliest_tokens(model, state)
    expected = [shown.shares] if temperature == 1 else [shown.shares, shown.plain]
    assert_allclose(drawn(header), np.concatenate(expected))
    assert names(header) == shown.names
    divided = "" if temperature == 1 else f" / {temperature:g}"
    assert all(f"{divided} → " in text for text in ends(header)[:: 1 if temperature == 1 else 2])


@every_model
def test_every_picture_obeys_the_law_of_its_kind(model):
    for state in (VIEW, replace(VIEW, tied=False, temperature=0.1, token=20)):
        for picture in pictures.PICTURES.values():
            header, numbers = picture.content(model, state)
            LAWS[picture.canvas.name](*decode(encode(header, numbers)))


@every_model
def test_the_maps_cells_are_the_tables_and_a_click_chooses_the_position(model):
    shown = layer_by_layer(model, VIEW)
    header, numbers = pictures.lens_map(model, VIEW)
    table = shown.table()["probability of the final token"].to_numpy()
    assert_allclose(floats(numbers.tobytes()), 100 * table.reshape(len(shown.out.names), -1).T.ravel(), rtol=1e-6)
    assert header["asks"] == ("model_layer", "model_token")
    assert header["places"][1] == list(range(1, len(shown.out.names) + 1))
    at, _ = pictures.lens_at_token(model, VIEW)
    assert_allclose(drawn(at), AtToken(shown).shares.ravel())


@every_model
def test_lines_are_lengths_and_probabilities_of_each_position(model):
    norm, both = final_norm(model, VIEW), tied_and_untied(model, VIEW)
    by_name = lines(pictures.norm_lengths(model, VIEW)[0])
    assert list(by_name["after the last layer"][1]) == pytest.approx(norm.lengths[0].tolist())
    assert ("after the final norm" in by_name) is (model.norm == "pre")
    by_name = lines(pictures.itself(model, VIEW)[0])
    for name, side in both.sides.items():
        assert list(by_name[name][1]) == pytest.approx(side.shares.tolist())


def test_the_slider_holds_the_temperature():
    header, _ = pictures.knob(ModelState(), replace(VIEW, temperature=0.3))
    (slider,) = header["knobs"]
    assert (slider["parameter"], slider["value"]) == ("model_temperature", 0.3)


# what the questions take for granted


def test_random_weights_prefer_a_token_by_many_even_shares():
    model, state = asked["The likeliest token"]
    assert likeliest(model, state).out.vocab == 4096
    assert answers.times_even(model, state) > 5
    assert f"{answers.times_even(model, state):g}× an even share" in answers.how_sure(model, state)


def test_a_low_temperature_keeps_the_order_and_lowers_the_entropy():
    model, state = asked["A low temperature"]
    shown = likeliest(model, state)
    assert answers.order_changes(model, state) == "no"
    assert shown.shares[0] > 10 * shown.plain[0]
    assert "wider" in answers.what_temperature_does(model, state)
    assert "narrower" in answers.what_temperature_does(model, replace(state, temperature=2.0))
    assert "divided by 1" in answers.what_temperature_does(model, replace(state, temperature=1.0))


def test_tied_random_models_repeat_the_word_and_untied_ones_do_not():
    model, state = asked["The same word again"]
    shown = tied_and_untied(model, state)
    assert model.length / 2 < answers.repeats_tied(model, state) == shown.sides["tied"].first
    assert shown.sides["untied"].first < 2
    assert float(shown.sides["tied"].cosines.min()) > 0
    assert "at 0 untied" in answers.why_it_repeats(model, state)


def test_the_layers_of_the_question_disagree_with_the_end():
    model, state = asked["After each layer"]
    shown = layer_by_layer(model, state)
    assert shown.agreeing[-1] == len(shown.out.names) > shown.agreeing[0]
    assert len(shown.read.places) == 7
    assert "0 after" in answers.which_layer_decides(model, state)
