"""What the questions of the Heads lens's questions say is true."""

import numpy as np

from tests.tfm_ui.lenses.heads.all_weights import weights_of
from tfm_ui.lenses.heads.numbers import AllHeads, all_heads
from tfm_ui.lenses.heads.questions import QUESTIONS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState

BY_NAME = {question.name: question for question in QUESTIONS}


def heads_of(name: str) -> AllHeads:
    """The heads that a question shows."""
    return all_heads(ModelState(**BY_NAME[name].model), HeadsState(**BY_NAME[name].page).kind)


def test_first_look_the_first_row_is_one_and_nothing_else():
    first = weights_of(heads_of("First look"))[:, :, 0]
    assert (first[..., 0] == 1).all()
    assert (first[..., 1:] == 0).all()


def test_who_saw_whom_rows_of_one_word_are_alike_to_the_last_digit():
    shown = heads_of("Who saw whom?")
    rows = [at for at, label in enumerate(shown.queries) if label.startswith("the")]
    assert len(rows) == 4
    weights = weights_of(shown)
    for row in rows:
        np.testing.assert_array_equal(weights[:, :, row], weights[:, :, rows[0]])


def test_looking_ahead_about_half_of_the_weight_goes_ahead():
    weights = weights_of(heads_of("Looking ahead"))
    assert 0.4 < np.triu(weights, 1).sum() / weights.sum() < 0.6


def test_many_heads_differ_and_have_two_numbers_each():
    model = ModelState(**BY_NAME["Many heads"].model)
    assert model.config.head_dim == 2
    top = weights_of(heads_of("Many heads"))[:, :, 1:].max(-1).mean(-1)
    assert top.max() > 1.5 * top.min()


def test_a_long_text_alibi_makes_each_head_see_further_than_the_one_before():
    weights = weights_of(heads_of("A long text"))
    at = np.arange(weights.shape[-1])
    far = (weights * abs(at[:, None] - at)).sum(-1).mean(-1)
    assert (np.diff(far, axis=1) > 0).all()
    assert (far[:, -1] > 20 * far[:, 0]).all()


def test_two_texts_nothing_is_masked():
    shown = heads_of("Two texts")
    assert shown.attention.visible.all()
    assert shown.queries == ["die", "Katze", "war", "müde"]
