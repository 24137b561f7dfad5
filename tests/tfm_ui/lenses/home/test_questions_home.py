"""What Home's questions say is true."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tfm_core import LAB_GPT, Transformer, lab_prompt, lab_tokenizer
from tfm_ui.lenses.home import LENS
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.lenses.home.questions import QUESTIONS
from tfm_ui.live.passes import parameters
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import named


def test_the_untrained_model_repeats_the_last_word_and_a_larger_one_more_so():
    likely, counts = {}, {}
    for question in QUESTIONS:
        model = ModelState(**question.model)
        likely[question.name], counts[question.name] = Next(model, LensState()), parameters(model.config)
    assert likely["First look"].names[0] == likely["Much larger"].names[0] == "“tired”"
    assert likely["Much larger"].shares[0] > likely["First look"].shares[0]
    assert round(counts["Much larger"] / counts["First look"]) == 47


def test_another_seed_moves_the_sharpest_head_and_leaves_what_the_mask_decides():
    models = {question.name: ModelState(**question.model) for question in QUESTIONS}
    first, other = (heads_of(models[name]) for name in ("First look", "Another seed"))
    assert first.sentence().partition(". ")[0] != other.sentence().partition(". ")[0]
    assert (first.queries, first.keys) == (other.queries, other.keys)
    np.testing.assert_array_equal(weights_of(first)[:, :, 0], weights_of(other)[:, :, 0])  # the row without a choice
    np.testing.assert_array_equal(weights_of(first) == 0, weights_of(other) == 0)


def question(name):
    return next(question for question in QUESTIONS if question.name == name)


def test_home_opens_on_lab_gpt_and_its_first_question_is_about_that():
    first = QUESTIONS[0]
    assert dict(first.model) == LENS.opens_with
    model = ModelState(**first.model)
    assert model.is_lab_gpt
    with torch.no_grad():
        shares = Transformer(LAB_GPT).eval()(lab_prompt(model.text).batch)[0, -1].softmax(-1)
    likeliest = lab_tokenizer().pieces[int(shares.argmax())]
    answer = first.answer(model, LensState())
    assert answer.startswith(f"“{named(likeliest)}”, with {formats.percent(float(shares.max()), 3)}")
    assert "no proof of why" in answer
    assert first.predict.measured(model, LensState()) == pytest.approx(100 * float(shares.max()), abs=0.06)
    assert "random" in first.answer(ModelState(), LensState())
    task = first.answer(ModelState(weights="copy"), LensState())
    assert "from the training and from this text alone" in task


def test_a_trained_model_says_what_came_last_time():
    trained = question("A trained model")
    model = ModelState(**trained.model)
    pieces = model.source_tokens.pieces
    before = max(at for at in range(len(pieces) - 1) if pieces[at] == pieces[-1])
    assert Next(model, LensState()).names[0] == f"“{pieces[before + 1]}”"
    assert Next(model, LensState()).shares[0] > 0.99
    answer = trained.answer(model, LensState())
    assert f"stood before at place {before + 1}" in answer
    assert "the model says what came last time" in answer


def test_what_came_last_time_is_told_of_random_weights_and_of_texts_without_repetition():
    trained = question("A trained model")
    assert "stands here for the first time" in trained.answer(ModelState(), LensState())
    answer = trained.answer(ModelState(text="the cat and the dog and the"), LensState())
    assert "“the” stood before at place 4, and “dog” came after it: the model says something else" in answer
    assert "random" in answer
