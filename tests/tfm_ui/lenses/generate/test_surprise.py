"""The view "surprise": beside torch's cross-entropy and transformers' GPT-2, on any text."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.tfm_ui.lenses.generate.examples import RANDOM, set_up
from tfm_core import Transformer, lab_tokenizer, surprise, to_gpt2
from tfm_ui.lenses.generate.state import AGAINST, GenerateState
from tfm_ui.lenses.generate.surprise import scored
from tfm_ui.lenses.generate.surprise.questions import PLAIN, QUESTIONS, SHUFFLED
from tfm_ui.lenses.generate.surprise.sides import bytes_of
from tfm_ui.lenses.generate.surprise.tokens import NOTHING, WIDTH, Surprise, SurprisePlaces, fewest_for_half
from tfm_ui.state.model_state import ModelState

TEXT = "Call me Ishmael. Some years ago I thought I would sail about a little."
LAB = ModelState(weights="lab-gpt", text=TEXT)
LONG = ModelState(weights="lab-gpt", text="The sea was calm. " * 80)
ALONE = GenerateState(view="surprise")


def beside(against, **more):
    return GenerateState(view="surprise", against=against, **more)


# against what we have not written


def test_each_tokens_surprise_is_transformers_cross_entropy_over_the_text_alone():
    side = Surprise(LAB, ALONE).sides[0]
    ids = list(map(lab_tokenizer().id_of, lab_tokenizer().split(TEXT)))
    with torch.no_grad():
        logits = to_gpt2(Transformer(LAB.config).eval())(torch.tensor([ids])).logits[0, :-1]
    losses = F.cross_entropy(logits.double(), torch.tensor(ids[1:]), reduction="none")
    assert np.isnan(side.bits[0])
    assert_allclose(side.bits[1:], losses / math.log(2), atol=1e-4)
    assert side.scored.perplexity == pytest.approx(float(losses.mean().exp()), rel=1e-4)
    read = len(TEXT.removeprefix(side.pieces[0]).encode())
    assert side.bits_per_byte == pytest.approx(float(losses.sum()) / math.log(2) / read, rel=1e-4)
    top = logits.softmax(-1).topk(5)
    assert_allclose(side.scored.top_shares, top.values, atol=1e-5)
    assert side.scored.top_ids[:, 0].tolist() == top.indices[:, 0].tolist()


@pytest.mark.parametrize("model", [RANDOM, LONG])
def test_tokens_are_rated_as_the_library_does_in_windows_where_the_text_is_longer_than_the_context(model):
    side = Surprise(model, ALONE).sides[0]
    assert (len(side.ids) > model.most_tokens) == model.is_lab_gpt
    theirs = surprise(Transformer(model.config).eval(), side.ids, context=model.most_tokens)
    assert_allclose(side.bits[1:], theirs.bits, atol=1e-4 if model.is_lab_gpt else 1e-5)
    assert_allclose(side.scored.entropies, theirs.entropies, atol=1e-5)
    assert side.scored.ranks.tolist() == theirs.ranks.tolist()


def test_the_first_token_has_no_probability_and_it_is_said():
    assert np.isnan(Surprise(RANDOM, ALONE).sides[0].bits[0])
    sentence = Surprise(RANDOM, ALONE).sentence()
    assert "The first token, “t”, has no probability: nothing stands before it." in sentence
    assert "start token" not in sentence
    assert "a start token stood before each text" in Surprise(LAB, ALONE).sentence()


@pytest.mark.parametrize("memory", [1, 3, 64])
@pytest.mark.parametrize("model", [LAB, RANDOM])
def test_with_a_short_memory_each_token_is_predicted_from_the_last_alone(model, memory):
    side = Surprise(model, beside("short memory", memory=memory)).sides[1]
    machine, ids = Transformer(model.config).eval(), side.ids
    for place in range(1, len(ids)):
        with torch.no_grad():
            logits = machine(torch.tensor([ids[max(0, place - memory) : place]]))[0, -1]
        bits = -logits.double().log_softmax(-1)[ids[place]] / math.log(2)
        assert side.bits[place] == pytest.approx(float(bits), abs=1e-4)


def test_random_weights_are_those_that_training_began_with():
    panel = Surprise(LAB, beside("random weights"))
    assert panel.sides[1].config.weights == "random"
    assert panel.sides[1].ids == panel.sides[0].ids
    assert panel.sides[1].scored.perplexity > 1000 > panel.sides[0].scored.perplexity
    seeds = [side.config.seed for side in Surprise(RANDOM, beside("random weights")).sides]
    assert seeds[0] != seeds[1]


# what is said


def test_b_is_absent_until_there_is_another_text():
    assert len(Surprise(LAB, ALONE).sides) == 1
    assert "Text B" in Surprise(LAB, ALONE).hint
    panel = Surprise(LAB, beside("other text", other="The whale"))
    assert [len(side.pieces) for side in panel.sides][1] == len(lab_tokenizer().split("The whale"))
    assert not panel.hint
    trained = ModelState(weights="induction")
    assert "cannot be read" in Surprise(trained, beside("other text", other="@ a text")).hint


def test_what_surprises_most_and_where_they_differ_most_is_named_with_its_ties():
    panel = Surprise(LAB, beside("short memory", memory=2))
    a, b = (side.bits for side in panel.sides)
    for what, bits in (("They differ most at ", np.abs(a - b)), (f"over {len(a) - 1} tokens. ", a)):
        at = int(np.nanargmax(bits))
        assert f"{what}“{panel.sides[0].names[at]}”, token {at + 1}" in panel.sentence()
    alike = ModelState(architecture="decoder", tokenizer="byte", text="aaaaaa", positional="none")
    assert "(one of 5 tokens that tie), surprises most" in Surprise(alike, ALONE).sentence()


def test_half_of_the_bits_fall_on_few_tokens():
    assert fewest_for_half(np.array([1.0, 5.0, 1.0, 1.0])) == 1
    assert fewest_for_half(np.array([1.0, 1.0, 1.0, 1.0])) == 2
    along = SurprisePlaces(LAB, ALONE)
    assert all(along.laws().values())
    assert len(along.table()) == len(along.sides[0].pieces) - 1


@pytest.mark.parametrize("text", ["", " "])
def test_of_no_text_nothing_is_said_but_that(text):
    model = ModelState(weights="lab-gpt", text=text)
    panel = Surprise(model, beside("random weights"))
    if not text:
        assert panel.sentence() == NOTHING
        assert not panel.laws()
        assert not panel.recipe()
    header, numbers = panel.picture()
    assert numbers.size == WIDTH * sum(len(side["tokens"]) for side in header["sides"])


# whatever is typed

texts = st.text(max_size=40) | st.sampled_from(
    ["😀", "\ud83d", "שלום עולם", "<b>&amp;</b>", "a\n\n\tb", "\x00", "﷽" * 9]
)


@given(texts, st.sampled_from(AGAINST), texts)
def test_any_text_is_rated_to_the_last_byte(text, against, other):
    model = ModelState(weights="lab-gpt", text=text)
    panel = Surprise(model, beside(against, other=other, memory=2))
    for side in panel.sides:
        assert len(side.bits) == len(side.pieces)
        assert bytes_of(model, side.pieces) == len(
            (other if side.label == "the other text" else model.read_text).encode("utf-8", "surrogatepass")
        )
    assert all(panel.laws().values())
    assert panel.sentence()
    panel.picture()


def test_ten_thousand_tokens_are_cut_and_it_is_said():
    model = ModelState(weights="lab-gpt", text="a b " * 5000)
    panel = Surprise(model, beside("short memory", memory=64))
    most = scored.most_scored(model.config, 256, 64)
    assert {len(side.pieces) for side in panel.sides} == {most}
    assert f"the first {most} are rated" in panel.sentence()
    alone = Surprise(model, ALONE)
    assert len(alone.sides[0].pieces) == scored.MOST
    assert f"the first {scored.MOST:,} are rated" in alone.sentence()


def test_a_length_that_was_chosen_is_what_is_rated():
    model = ModelState(weights="lab-gpt", text=TEXT, seq_len=5)
    assert Surprise(model, ALONE).sides[0].pieces == model.source_tokens.pieces


def test_what_the_questions_take_for_granted():
    order, memory = QUESTIONS[1], QUESTIONS[3]
    assert sorted(PLAIN.replace(".", "").lower().split()) == sorted(SHUFFLED.replace(".", "").lower().split())
    assert order.predict.measured(*set_up(order)) == "B"
    assert "more than A" in memory.answer(*set_up(memory))
    assert QUESTIONS[2].model["weights"] == "lab-gpt"
    assert LAB.config.vocab_size == 2048


def test_the_table_has_a_row_for_every_token():
    table = Surprise(LAB, beside("random weights")).table()
    assert list(table["side"]) == ["A"] * (len(table) // 2) + ["B"] * (len(table) // 2)
    assert_allclose(table["probability"], 2.0 ** -table["bits"])
