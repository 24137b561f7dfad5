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
OTHER = {"text": "to be or not to be", "num_heads": 2, "seed": 3}


def heads_in(name: str, **other) -> Heads:
    """The heads that a question shows, of its own model or of another."""
    return Heads(ModelState(**{**BY_NAME[name].model, **other}), HeadsState(**BY_NAME[name].controls))


def answered(name: str, **other) -> str:
    heads = heads_in(name, **other)
    return BY_NAME[name].answer(heads.model, heads.state)


def at(place: int | np.intp, values: np.ndarray) -> str:
    """The name of a head by its number."""
    layer, head = divmod(int(place), values.shape[1])
    return f"layer {layer + 1}, head {head + 1}"


def test_the_first_row_is_one_and_nothing_else_and_fixed_only_where_it_sees_one_token():
    first = weights_of(heads_in("First row"))[:, :, 0]
    assert (first[..., 0] == 1).all()
    assert (first[..., 1:] == 0).all()
    assert answered("First row").startswith("“the” may look at one token alone")
    assert answered("First row", **OTHER).startswith("“to” may look at one token alone")
    assert answered("First row", causal=False).startswith("Here it could: the first row may look at 10 tokens")


def test_rows_of_one_word_are_alike_to_the_last_digit_only_without_positions_and_mask():
    panel = heads_in("Who saw whom?")
    rows = [row for row, label in enumerate(panel.queries) if label.startswith("the")]
    assert rows == [0, 3, 6, 9]
    for row in rows:
        np.testing.assert_array_equal(weights_of(panel)[:, :, row], weights_of(panel)[:, :, 0])
    assert answered("Who saw whom?").startswith("It could not")
    assert answered("Who saw whom?", text="to be or not to be", seq_len=6).startswith("It could not")
    assert answered("Who saw whom?", text="all words differ", seq_len=3).startswith("No word stands in this text twice")
    for how, by in (({"causal": True}, "By the mask"), ({"positional": "rope"}, "By the positions")):
        weights = weights_of(heads_in("Who saw whom?", **how))
        pairs = [*((0, row) for row in rows[1:]), (1, 10), (2, 8), (4, 7)]
        apart = max(abs(weights[:, :, a] - weights[:, :, b]).max() for a, b in pairs)
        answer = answered("Who saw whom?", **how)
        assert answer.startswith(by)
        assert f"differ by up to {formats.weight(apart)}" in answer


def test_the_weight_ahead_is_summed_and_about_half_of_all():
    for other in ({}, OTHER, {"causal": True}):
        heads = heads_in("Looking ahead", **other)
        weights = weights_of(heads)
        ahead = np.triu(weights, 1).sum() / weights.sum()
        assert other or 0.4 < ahead < 0.6
        assert abs(questions.weight_ahead(heads.model, HeadsState()) - ahead) < 1e-6
        answer = answered("Looking ahead", **other)
        assert answer.startswith("Nothing here looks ahead") if ahead == 0 else f"{100 * ahead:.0f}%" in answer


def test_the_sharpest_and_the_bluntest_head_are_named():
    assert ModelState(**BY_NAME["Many heads"].model).config.head_dim == 2
    for other in ({}, OTHER):
        top = weights_of(heads_in("Many heads", **other))[:, :, 1:].max(-1).mean(-1)
        assert other or top.max() > 1.5 * top.min()
        answer = answered("Many heads", **other)
        assert f"sharpest is {at(top.argmax(), top)}" in answer
        assert f"bluntest is {at(top.argmin(), top)}" in answer


def test_the_sight_of_heads_is_measured_and_alibi_makes_each_see_further_than_the_one_before():
    for other in ({}, {"positional": "rope", "seq_len": 40}):
        weights = weights_of(heads_in("A long text", **other))
        places = np.arange(weights.shape[-1])
        far = (weights * abs(places[:, None] - places)).sum(-1).mean(-1)
        answer = answered("A long text", **other)
        assert f"{at(far.argmin(), far)}: its weight lies {far.min():.1f} tokens away" in answer
        assert ("a steep slope takes more" in answer) == (not other)
        assert other or (np.diff(far, axis=1) > 0).all()
        assert other or (far[:, -1] > 20 * far[:, 0]).all()


def test_cross_attention_hides_nothing_but_padding():
    panel = heads_in("Two texts")
    assert panel.attention.visible.all()
    assert panel.queries == ["die", "Katze", "war", "müde"]
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
    answer = questions.looks_where_it_should(model, state)
    assert f"Layer 2, head 1 gives {formats.share(float(np.mean(behind)))} of its weight" in answer
    assert f"Layer 1, head 1 gives {formats.share(float(np.mean(before)))} of its weight" in answer
    assert questions.best_layer(model, state) == "layer 2"


def test_a_head_with_a_job_of_other_trained_weights_and_of_random_ones():
    answer = questions.looks_where_it_should(ModelState(weights="reverse"), HeadsState())
    assert "The first answer is the last digit" in answer
    for model in (ModelState(), ModelState(weights="induction", text="a b c a b")):  # nobody knows what is right
        assert "no head has a place where it should look" in questions.looks_where_it_should(model, HeadsState())
        assert questions.best_layer(model, HeadsState()) == "none"
