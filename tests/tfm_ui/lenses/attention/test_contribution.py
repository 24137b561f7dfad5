"""Looking beside writing: what the view says, on a real model and on rows whose numbers are known."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.payloads import decode
from tfm_core import recording
from tfm_ui.lenses.attention.contribution import Contribution, ContributionRow
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes, places
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(num_heads=8, seed=3, positional="rope")
NAMES = ["a", "b", "c", "d"]


def made_up(weights, lengths, visible=None, of=Contribution) -> Any:
    """A head whose keys write vectors of these lengths."""
    panel, weights = of(MODEL, AttentionState(query=1)), np.array(weights, np.float32)
    vars(panel).update(
        weights=weights,
        norms=(weights * np.array(lengths, np.float32)).astype(np.float32),
        visible=np.ones(weights.shape, bool) if visible is None else np.array(visible, bool),
        queries=NAMES[: len(weights)],
        keys=NAMES[: weights.shape[1]],
        read=len(weights),
    )
    return panel


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_norms_are_those_of_the_models_own_output_with_one_value_alone(kind, norm):
    """Independent: leave a single value vector in a single head, and see what the attention puts out."""
    model = ModelState(architecture="encoder-decoder", norm=norm, text="one two three", seq_len=4, target="u v")
    panel = Contribution(model, AttentionState(kind=kind, layer=2, head=3))
    place = places.place(model, kind).replace("{layer}", "1")
    outputs = []
    for key in [None, *range(panel.weights.shape[1])]:

        def alone(value, key=key):
            kept = torch.zeros_like(value)
            if key is not None:
                kept[:, 2, key] = value[:, 2, key]
            return kept

        with torch.no_grad(), recording("*.output", {place.format(what="value"): alone}) as trace:
            passes.forward(model)
        outputs.append(trace[place.format(what="output")][0])
    expected = torch.stack([(output - outputs[0]).norm(dim=-1) for output in outputs[1:]], -1)
    np.testing.assert_allclose(panel.norms, expected, atol=1e-5)
    assert all(panel.laws().values())


def test_where_looking_and_writing_disagree_both_tokens_are_named():
    panel = made_up([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [1, 4, 1])
    assert panel.differing == {0: pytest.approx(12 / 19 - 6 / 19)}
    assert panel.sentence() == (
        "In 1 of 2 rows with a favourite, the token with the largest weight is not the one that contributes most. "
        "The furthest apart: "
        "“a” looks most at “a” (0.60), but “b” contributes most (63% of the lengths; “a” 32%)."
    )
    assert panel.sentence_of(1) == "“b” looks most at “b” (0.70), which also contributes most (90%)."


def test_agreement_is_said():
    assert (
        made_up([[0.6, 0.4], [0.2, 0.8]], [1, 1])
        .sentence()
        .startswith("In all 2 rows with a favourite, the token with the largest weight also contributes most.")
    )


def test_a_sink_is_named_with_what_it_writes():
    sink = [[0.7, 0.1, 0.1, 0.1]] * 4
    sentence = (
        "“a” is an attention sink here: it gets 70% of the weight on average, where an even spread would give it 25%"
    )
    assert f"{sentence}, but writes little: 19% of the lengths." in made_up(sink, [0.1, 1, 1, 1]).sentence()
    assert f"{sentence}, and writes as much: 70% of the lengths." in made_up(sink, [1, 1, 1, 1]).sentence()


def test_in_a_causal_row_the_first_token_is_no_sink_for_being_seen_by_all():
    """Spread evenly, the first of four tokens gets (1/2 + 1/3 + 1/4) / 3 = 36 %: above 0.3, but not above even."""
    even = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    assert made_up(even, [1] * 4, np.tril(np.ones((4, 4)))).sink() == ""


def test_one_token_has_no_choice():
    model, state = ModelState(text="hi", seq_len=2), AttentionState(layer=1, head=1)
    shown, chosen = Contribution(model, state), ContributionRow(model, state)
    assert shown.sentence() == "No token has a choice: each may look at one at most."
    assert chosen.sentence() == "“hi” has no choice: all comes from “hi”."
    assert chosen.bars == [0]


def test_equal_tokens_have_no_favourite():
    panel = Contribution(ModelState(text="a a a a", seq_len=4, positional="none"), AttentionState(layer=1, head=1))
    assert panel.sentence() == "No row has a favourite: each looks at two tokens or more alike."
    assert "no favourite" in panel.sentence_of(3)
    np.testing.assert_allclose(panel.shares[3], [0.25] * 4, atol=1e-6)


def test_a_row_that_may_see_nothing_is_said_to():
    panel = made_up([[0, 0], [0.5, 0.5]], [1, 3], [[0, 0], [1, 1]])
    assert "may see nothing" in panel.sentence_of(0)
    assert not panel.shares[0].any()
    assert made_up([[0, 0]], [1, 3], [[0, 0]]).sentence() == "No token has a choice: each may look at one at most."
    assert "writes nothing" in made_up([[0.7, 0.3]], [0, 0]).sentence()
    assert made_up([[0, 0]], [1, 3], [[0, 0]], of=ContributionRow).bars == []


def test_a_thousand_tokens_show_twelve_bars_and_a_table_of_all():
    model, state = ModelState(text="@alice", seq_len=1024), AttentionState(layer=1, head=1, query=1000)
    shown, chosen = Contribution(model, state), ContributionRow(model, state)
    assert len(chosen.bars) == 12
    assert shown.weights[999].argmax() in chosen.bars
    assert len(shown.table()) == 1024 * 1025 / 2
    assert len(chosen.table()) == 1000


@given(seed=st.integers(0, 99), rows=st.integers(1, 4), keys=st.integers(1, 4))
def test_whatever_the_head_something_is_said_and_shares_add_up(seed, rows, keys):
    random = np.random.default_rng(seed)
    visible = random.random((rows, keys)) < 0.6
    weights = np.where(visible, random.random((rows, keys)), 0)
    panel = made_up(weights / np.maximum(weights.sum(-1, keepdims=True), 1e-9), random.random(keys), visible)
    assert panel.sentence()
    for row in range(rows):
        assert NAMES[row] in panel.sentence_of(row)
        assert panel.shares[row].sum() == pytest.approx(float(visible[row].any()), abs=1e-5)
    assert set(panel.differing) <= set(panel.clear)


@pytest.mark.parametrize("model", [MODEL, ModelState(architecture="encoder-decoder", target="u v w")])
def test_the_pictures_bytes_are_the_weights_and_the_lengths(model):
    state = AttentionState(kind="cross", layer=2, head=3)
    panel = Contribution(model, state)
    _, numbers = decode(made("contribution", query_of(((model, ""), (state, "attention_")))))
    weights, norms = np.frombuffer(numbers, np.float32).reshape(2, *panel.weights.shape)
    np.testing.assert_allclose(np.nan_to_num(weights), panel.weights, atol=1e-6)
    np.testing.assert_allclose(np.nan_to_num(norms), panel.norms, atol=1e-6)
    assert (np.isnan(weights) == ~panel.visible).all()
