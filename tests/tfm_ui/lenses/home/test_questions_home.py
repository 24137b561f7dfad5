"""What the questions of Home's questions say is true."""

import numpy as np

from tests.tfm_ui.lenses.heads.all_weights import weights_of
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.lenses.home.questions import QUESTIONS
from tfm_ui.live.passes import run
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
