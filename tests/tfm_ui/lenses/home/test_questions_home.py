"""What the questions of Home's questions say is true."""

import numpy as np

from tests.tfm_ui.lenses.heads.all_weights import weights_of
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home import LENS
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.lenses.home.questions import QUESTIONS
from tfm_ui.live.passes import run
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState


def test_the_untrained_model_repeats_the_last_word_and_a_larger_one_more_so():
    likely, parameters = {}, {}
    for question in QUESTIONS:
        model = ModelState(**question.model)
        likely[question.name], parameters[question.name] = next_token(model), run(model).parameters
    assert likely["First look"].names[0] == likely["Much larger"].names[0] == "“tired”"
    assert likely["Much larger"].shares[0] > likely["First look"].shares[0]
    assert round(parameters["Much larger"] / parameters["First look"]) == 47


def test_another_seed_moves_the_sharpest_head_and_leaves_what_the_mask_decides():
    models = {question.name: ModelState(**question.model) for question in QUESTIONS}
    first, other = (all_heads(models[name], HeadsState.kind) for name in ("First look", "Another seed"))
    assert first.sentence().partition(". ")[0] != other.sentence().partition(". ")[0]
    assert (first.queries, first.keys) == (other.queries, other.keys)
    np.testing.assert_array_equal(weights_of(first)[:, :, 0], weights_of(other)[:, :, 0])  # the row without a choice
    np.testing.assert_array_equal(weights_of(first) == 0, weights_of(other) == 0)


def test_a_trained_model_says_what_came_last_time_and_home_opens_on_it():
    question = QUESTIONS[0]
    assert dict(question.model) == LENS.opens_with
    model = ModelState(**question.model)
    pieces = model.source_tokens.pieces
    before = max(at for at in range(len(pieces) - 1) if pieces[at] == pieces[-1])
    assert next_token(model).names[0] == f"“{pieces[before + 1]}”"
    assert next_token(model).shares[0] > 0.99
    said = question.answer(model, LensState())
    assert f"stood before at place {before + 1}" in said
    assert "the model says what came last time" in said


def test_what_came_last_time_is_told_of_random_weights_and_of_texts_without_repetition():
    question = QUESTIONS[0]
    assert "stands here for the first time" in question.answer(ModelState(), LensState())
    said = question.answer(ModelState(text="the cat and the dog and the"), LensState())
    assert "“the” stood before at place 4, and “dog” came after it: the model says something else" in said
    assert "random" in said
