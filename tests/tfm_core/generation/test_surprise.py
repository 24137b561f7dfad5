"""Surprise: beside cross-entropy, transformers' loss, and a naive loop."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.generation.writing import decoder, every_scheme
from tests.tfm_core.toys import VOCAB, build, random_ids
from tfm_core import POSITIONAL, surprise
from tfm_core.generation.surprise import windows

texts = st.lists(st.integers(1, VOCAB - 1), min_size=2, max_size=20)


@torch.no_grad()
@every_scheme
@shared_by(len(POSITIONAL))
@given(texts)
def test_it_is_the_cross_entropy_of_the_next_tokens(positional, text):
    model, tokens = decoder(positional=positional), torch.tensor(text)
    got, logits = surprise(model, text), model(tokens[None])[0, :-1]
    losses = F.cross_entropy(logits, tokens[1:], reduction="none").double()
    assert torch.allclose(-got.log_probabilities, losses, atol=1e-5)
    assert got.perplexity == pytest.approx(math.exp(losses.mean()), rel=1e-5)
    assert got.bits_per_token == pytest.approx(math.log2(got.perplexity))
    assert got.bits_per_byte(7) == pytest.approx(losses.sum().item() / math.log(2) / 7, rel=1e-5)
    entropies = torch.distributions.Categorical(logits=logits).entropy().double()
    assert torch.allclose(got.entropies, entropies, atol=1e-4)
    assert torch.equal(got.likeliest, logits.argmax(-1))
    for rank, row, token in zip(got.ranks, logits, text[1:], strict=True):
        assert rank == sorted(row.tolist(), reverse=True).index(row[token].item()) + 1
    assert torch.equal(got.ranks == 1, got.likeliest == got.tokens)
    assert got.tokens.tolist() == text[1:]


@given(st.integers(2, 200), st.integers(2, 40))
def test_windows_score_each_token_once_and_know_half_a_context_before_it(length, context):
    passes, scored = list(windows(length, context)), [0]
    for begin, first, end in passes:
        assert 0 <= begin < first < end <= length
        assert end - begin <= context
        assert begin == 0 or first - begin == context // 2
        scored += range(first, end)
    assert scored == list(range(length))


@torch.no_grad()
@pytest.mark.parametrize("context", [2, 3, 8, 48])
def test_a_long_text_is_scored_in_windows_each_as_if_alone(context):
    model, text = decoder(), random_ids(1, 60)[0].tolist()
    got = surprise(model, text, context=context)
    assert got.tokens.tolist() == text[1:]
    for begin, first, end in windows(60, context):
        alone = surprise(model, text[begin:end])
        part = slice(first - 1, end - 1)
        assert torch.allclose(got.log_probabilities[part], alone.log_probabilities[first - begin - 1 :], atol=1e-5)


def test_learned_positions_have_windows_by_themselves():
    model, text = decoder(positional="learned", max_len=16), random_ids(1, 50)[0].tolist()
    assert torch.equal(surprise(model, text).log_probabilities, surprise(model, text, context=16).log_probabilities)


def test_a_model_that_knows_nothing_has_as_many_choices_as_tokens():
    model = build(architecture="decoder")
    torch.nn.init.zeros_(model.unembedding.weight)
    got = surprise(model, [1, 2, 3])
    assert got.perplexity == pytest.approx(VOCAB)
    assert got.entropies.tolist() == pytest.approx([math.log(VOCAB)] * 2)
    assert got.ranks.tolist() == [1, 1]
    assert got.likeliest.tolist() == [0, 0]
