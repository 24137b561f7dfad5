"""What lessons measure on the pages of Generate, beside naive loops over the model’s logits and sums written out."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.generate.examples import LAB
from tfm_core import Transformer, TransformerLayer
from tfm_ui.lenses.generate import measures
from tfm_ui.lenses.generate.measures import MEASURES
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.first_program import DROPOUT
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("steps", [1, 12, 60])
def test_without_a_cache_each_pass_reads_all_that_stands_before_it(steps):
    state = GenerateState(view="kept", method="greedy", steps=steps)
    before = [LAB.length + step for step in range(steps)]
    assert measures.passes(LAB, state) == steps
    assert measures.read_without_cache(LAB, state) == sum(before)
    assert measures.read_with_cache(LAB, state) == before[-1]


def test_where_the_context_is_full_the_newer_half_is_read_again():
    model = ModelState(weights="lab-gpt", text="sea " * 250)
    state = GenerateState(view="kept", method="greedy", steps=20)
    assert measures.read_with_cache(model, state) > model.length + 19
    assert measures.read_with_cache(model, state) < measures.read_without_cache(model, state)


def test_an_encoder_writes_nothing():
    encoder, state = ModelState(), GenerateState(view="kept")
    assert {MEASURES[name](encoder, state) for name in MEASURES} == {0, "", encoder.most_tokens}  # the last: `context`


SHORT = GenerateState(steps=12, method="greedy")


def written(model, count):
    """The likeliest tokens after the model's text, and the log probabilities of each step, without a cache."""
    tokens, logs = list(model.source_tokens.ids), []
    for _ in range(count):
        with torch.no_grad():
            logits = transformer(model.config)(torch.tensor([tokens]))[0, -1].double()
        logs.append(logits.log_softmax(0))
        tokens.append(int(logits.argmax()))
    return tokens[-count:], logs


def test_of_a_greedy_text_pairs_steps_and_sums_are_those_of_a_naive_loop():
    tokens, logs = written(LAB, 12)
    assert MEASURES["written"](LAB, SHORT) == MEASURES["likeliest_taken"](LAB, SHORT) == 12
    assert MEASURES["different_pairs"](LAB, SHORT) == len({*pairwise(tokens)})
    total = sum(float(log[token]) for token, log in zip(tokens, logs, strict=True))
    assert MEASURES["greedy_text"](LAB, SHORT) == pytest.approx(total, abs=1e-4)
    assert MEASURES["best_beam"](LAB, replace(SHORT, width=1)) == pytest.approx(total, abs=1e-4)
    assert MEASURES["best_beam"](LAB, replace(SHORT, width=8)) > total
    pieces = LAB.tokens_by.pieces
    assert MEASURES["text"](LAB, SHORT) == " ".join("".join(pieces[token] for token in tokens).split())


def test_shares_at_the_first_step_are_those_of_the_softmax():
    _, [first] = written(LAB, 1)
    shares = sorted(first.exp().tolist(), reverse=True)
    state = GenerateState(steps=3, temperature=1.0, top_k=7)
    assert MEASURES["share_left"](LAB, state) == pytest.approx(100 * sum(shares[:7]), abs=1e-3)
    assert MEASURES["first_largest"](LAB, state) == pytest.approx(shares[0], abs=1e-5)
    assert MEASURES["first_of_two"](LAB, state) == pytest.approx(shares[0] / (shares[0] + shares[1]), abs=1e-5)
    colder = sorted((first / 0.5).softmax(0).tolist())[-1]
    assert MEASURES["first_largest"](LAB, replace(state, temperature=0.5)) == pytest.approx(colder, abs=1e-5)
    assert MEASURES["first_largest"](LAB, replace(state, temperature=0.0)) == 1


def test_top_p_leaves_as_many_as_have_its_share_together():
    state = GenerateState(steps=1, temperature=1.0, top_k=0, top_p=0.9)
    _, [first] = written(LAB, 1)
    total, count = 0.0, 0
    for share in sorted(first.exp().tolist(), reverse=True):
        total, count = total + share, count + 1
        if total >= 0.9:
            break
    assert MEASURES["fewest_left"](LAB, state) == MEASURES["most_left"](LAB, state) == count
    longer = replace(state, steps=20)
    assert MEASURES["fewest_left"](LAB, longer) < MEASURES["most_left"](LAB, longer)


def test_no_cut_leaves_more_than_the_vocabulary():
    model = ModelState(weights="induction")
    assert MEASURES["most_left"](model, GenerateState(top_k=50)) == model.config.vocab_size == 27


@pytest.mark.parametrize("full", ["window", "stop"])
def test_the_context_is_full_at_the_first_step_that_would_read_more(full):
    model = ModelState(weights="induction")
    context = MEASURES["context"](model, SHORT)
    prompt = " ".join("abcdef" * 4)
    model = replace(model, text=prompt)
    first = next(step for step in range(1, 99) if 24 + step - 1 > context)
    assert MEASURES["full_at"](model, GenerateState(full=full, steps=first)) == first
    assert MEASURES["full_at"](model, GenerateState(full=full, steps=first - 1)) == 0


def test_dropout_changes_as_many_steps_as_in_a_model_in_training_mode():
    """Independent: the library's own modules in training mode, with the same draws in place of nn.Dropout's."""

    class Drop(torch.nn.Module):
        def forward(self, x):
            return x * torch.empty_like(x).bernoulli_(1 - DROPOUT, generator=drawn) / (1 - DROPOUT)

    drawn = torch.Generator().manual_seed(0)
    model = Transformer(LAB.config).train()
    for module in model.modules():
        if isinstance(module, TransformerLayer):
            module.dropout = Drop()
    state = replace(SHORT, steps=60)
    tokens, _ = written(LAB, 60)
    with torch.no_grad():
        likeliest = model(torch.tensor([[*LAB.source_tokens.ids, *tokens[:-1]]]))[0].argmax(-1).tolist()[-60:]
    others = sum(a != b for a, b in zip(tokens, likeliest, strict=True))
    assert MEASURES["others_in_training_mode"](LAB, state) == others > 0


def test_earlier_rows_stay():
    assert MEASURES["earlier_rows_change"](LAB, GenerateState(view="kept", steps=20)) == "no"
    assert MEASURES["earlier_rows_change"](ModelState(), GenerateState(view="kept")) == ""


def test_bits_a_byte_are_those_of_a_naive_sum():
    other = "The House of Representatives."
    state = GenerateState(view="surprise", other=other)
    for name, text in (("bits_of_a", LAB.text), ("bits_of_b", other)):
        model = replace(LAB, text=text)
        ids = model.source_tokens.ids
        with torch.no_grad():
            logs = transformer(model.config)(torch.tensor([ids]))[0].double().log_softmax(-1)
        bits = -sum(float(logs[at - 1, ids[at]]) for at in range(1, len(ids))) / np.log(2)
        size = len("".join(model.source_tokens.pieces[1:]).encode())
        assert MEASURES[name](LAB, state) == pytest.approx(bits / size, rel=1e-5)
    assert MEASURES["bits_of_b"](LAB, replace(state, other="")) == 0
