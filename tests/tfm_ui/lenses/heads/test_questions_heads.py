"""What the questions of the Heads lens say is true, and so are their answers, on two models each."""

import numpy as np

from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tfm_ui.lenses.heads import questions
from tfm_ui.lenses.heads.panels import Heads
from tfm_ui.lenses.heads.questions import QUESTIONS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

BY_NAME = {question.name: question for question in QUESTIONS}


def heads_in(name: str) -> Heads:
    """The heads that a question shows."""
    return Heads(ModelState(**BY_NAME[name].model), HeadsState(**BY_NAME[name].page))


def test_first_row_the_first_row_is_one_and_nothing_else():
    first = weights_of(heads_in("First row"))[:, :, 0]
    assert (first[..., 0] == 1).all()
    assert (first[..., 1:] == 0).all()


def test_who_saw_whom_rows_of_one_word_are_alike_to_the_last_digit():
    shown = heads_in("Who saw whom?")
    rows = [at for at, label in enumerate(shown.queries) if label.startswith("the")]
    assert len(rows) == 4
    weights = weights_of(shown)
    for row in rows:
        np.testing.assert_array_equal(weights[:, :, row], weights[:, :, rows[0]])


def test_looking_ahead_about_half_of_the_weight_goes_ahead():
    weights = weights_of(heads_in("Looking ahead"))
    assert 0.4 < np.triu(weights, 1).sum() / weights.sum() < 0.6


def test_many_heads_differ_and_have_two_numbers_each():
    model = ModelState(**BY_NAME["Many heads"].model)
    assert model.config.head_dim == 2
    top = weights_of(heads_in("Many heads"))[:, :, 1:].max(-1).mean(-1)
    assert top.max() > 1.5 * top.min()


def test_a_long_text_alibi_makes_each_head_see_further_than_the_one_before():
    weights = weights_of(heads_in("A long text"))
    at = np.arange(weights.shape[-1])
    far = (weights * abs(at[:, None] - at)).sum(-1).mean(-1)
    assert (np.diff(far, axis=1) > 0).all()
    assert (far[:, -1] > 20 * far[:, 0]).all()


def test_two_texts_nothing_is_masked():
    shown = heads_in("Two texts")
    assert shown.attention.visible.all()
    assert shown.queries == ["die", "Katze", "war", "müde"]


OTHER = {"text": "to be or not to be", "num_heads": 2, "seed": 3}


def answered(name: str, **other) -> str:
    question = BY_NAME[name]
    return question.answer(ModelState(**{**question.model, **other}), HeadsState(**question.page))


def test_the_first_row_is_fixed_only_where_it_sees_one_token():
    assert answered("First row").startswith("“the” may look at one token alone")
    assert answered("First row", **OTHER).startswith("“to” may look at one token alone")
    assert answered("First row", causal=False).startswith("Here it could: the first row may look at 10 tokens")


def test_the_order_is_lost_only_without_positions_and_mask():
    assert answered("Who saw whom?").startswith("It could not")
    assert answered("Who saw whom?", text="to be or not to be", seq_len=6).startswith("It could not")
    assert answered("Who saw whom?", text="all words differ", seq_len=3).startswith("No word stands in this text twice")
    for how, by in (({"causal": True}, "By the mask"), ({"positional": "rope"}, "By the positions")):
        said = answered("Who saw whom?", **how)
        weights = weights_of(heads_of(ModelState(**{**BY_NAME["Who saw whom?"].model, **how})))
        rows = [0, 3, 6, 9]  # each "the"
        apart = max(abs(weights[:, :, 0] - weights[:, :, row]).max() for row in rows[1:])
        apart = max(apart, max(abs(weights[:, :, a] - weights[:, :, b]).max() for a, b in ((1, 10), (2, 8), (4, 7))))
        assert said.startswith(by)
        assert f"differ by up to {formats.weight(apart)}" in said


def test_the_weight_ahead_is_summed():
    for other in ({}, OTHER, {"causal": True}):
        model = ModelState(**{**BY_NAME["Looking ahead"].model, **other})
        weights = weights_of(heads_of(model))
        ahead = np.triu(weights, 1).sum() / weights.sum()
        assert abs(questions.weight_ahead(model, HeadsState()) - ahead) < 1e-6
        said = answered("Looking ahead", **other)
        assert said.startswith("Nothing here looks ahead") if ahead == 0 else f"{100 * ahead:.0f}%" in said


def test_the_sharpest_and_the_bluntest_head_are_named():
    for other in ({}, OTHER):
        weights = weights_of(heads_of(ModelState(**{**BY_NAME["Many heads"].model, **other})))
        top = weights[:, :, 1:].max(-1).mean(-1)
        said = answered("Many heads", **other)
        for word, at in (("sharpest", top.argmax()), ("bluntest", top.argmin())):
            layer, head = divmod(int(at), top.shape[1])
            assert f"{word} is layer {layer + 1}, head {head + 1}" in said


def test_the_sight_of_heads_is_measured():
    for other in ({}, {"positional": "rope", "seq_len": 40}):
        weights = weights_of(heads_of(ModelState(**{**BY_NAME["A long text"].model, **other})))
        at = np.arange(weights.shape[-1])
        far = (weights * abs(at[:, None] - at)).sum(-1).mean(-1)
        layer, head = divmod(int(far.argmin()), far.shape[1])
        said = answered("A long text", **other)
        assert f"layer {layer + 1}, head {head + 1}: its weight lies {far.min():.1f} tokens away" in said
        assert ("a steep slope takes more" in said) == (not other)


def test_cross_attention_hides_nothing_but_padding():
    assert answered("Two texts").startswith("The text that is looked at is there as a whole")
    assert "lead to padding" in answered("Two texts", seq_len=12)
    assert answered("Two texts", architecture="encoder").startswith("On screen queries and keys are the same text")


def test_a_head_with_a_job_looks_behind_the_earlier_place_of_its_letter():
    model, state = ModelState(weights="induction"), HeadsState(layer=2)
    weights, ids = weights_of(heads_of(model))[:, 0], model.source_tokens.ids
    rows = [row for row in range(len(ids) - 1) if ids[row] in ids[:row]]
    behind = [sum(weights[1, row, at + 1] for at in range(row) if ids[at] == ids[row]) for row in rows]
    before = [weights[0, row, row - 1] for row in range(1, len(ids)) if ids[row] not in ids[:row]]
    assert np.mean(behind) > 0.9
    said = questions.looks_where_it_should(model, state)
    assert f"Layer 2, head 1 gives {formats.share(float(np.mean(behind)))} of its weight" in said
    assert f"Layer 1, head 1 gives {formats.share(float(np.mean(before)))} of its weight" in said
    assert questions.best_layer(model, state) == "layer 2"


def test_a_head_with_a_job_of_other_trained_weights_and_of_random_ones():
    said = questions.looks_where_it_should(ModelState(weights="reverse"), HeadsState())
    assert "The first answer is the last digit" in said
    for model in (ModelState(), ModelState(weights="induction", text="a b c a b")):  # nobody knows what is right
        assert "no head has a place where it should look" in questions.looks_where_it_should(model, HeadsState())
        assert questions.best_layer(model, HeadsState()) == "none"
