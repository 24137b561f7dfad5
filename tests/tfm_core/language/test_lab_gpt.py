"""Lab GPT itself: its files, the same logits elsewhere, and what it has learned; the scores of heads."""

import pytest
import torch
from safetensors.torch import load_file

from tfm_core import LAB_GPT, KeyValueCache, Sampling, Transformer, TransformerConfig, generate, lab_tokenizer, surprise
from tfm_core.generation.gpt2 import to_gpt2
from tfm_core.language.bpe import START_ID
from tfm_core.language.head_scores import (
    BATCH,
    LENGTH,
    head_scores,
    induction_scores,
    previous_token_scores,
    repeated_tokens,
)
from tfm_core.language.lab_gpt import UNTRAINED, WEIGHTS
from tfm_core.model.tokens import encode
from tfm_core.model.trained import untrained

# Sentences of nobody's: neither in the training texts nor in those that are held out.
ENGLISH = "She had been very happy at the house of her friend, and was sorry to leave it so soon."
SHUFFLED = "soon leave it to so sorry was and, friend her of house the at happy very been had She."


@pytest.fixture(scope="module")
def model() -> Transformer:
    return Transformer(LAB_GPT).eval()


def test_the_file_has_all_parameters_in_half_precision(model: Transformer) -> None:
    weights = load_file(WEIGHTS)
    assert {value.dtype for value in weights.values()} == {torch.float16}
    assert untrained(model, LAB_GPT.weights) == []
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, weights[name].float()), name


def test_two_models_are_the_same_and_do_not_share_what_one_changes(model: Transformer) -> None:
    other = Transformer(LAB_GPT).eval()
    with torch.no_grad():
        other.stack.embedding.weight.zero_()
    assert bool(model.stack.embedding.weight.any())
    assert bool(Transformer(LAB_GPT).stack.embedding.weight.any())


@torch.no_grad()
def test_transformers_gpt2_has_the_same_logits(model: Transformer) -> None:
    tokens = torch.randint(2, 2048, (2, 256), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(to_gpt2(model).eval()(tokens).logits, model(tokens), atol=1e-4, rtol=0)


@torch.no_grad()
def test_the_cache_gives_the_same_logits(model: Transformer) -> None:
    tokens = encode(ENGLISH, lab_tokenizer()).batch
    cache = KeyValueCache(LAB_GPT)
    parts = [model(part, cache=cache) for part in tokens.split(1, 1)]
    torch.testing.assert_close(torch.cat(parts, 1), model(tokens), atol=1e-4, rtol=1e-5)


def test_english_surprises_it_less_than_the_same_words_shuffled(model: Transformer) -> None:
    def bits(text: str, weights: Transformer) -> float:
        return surprise(weights, [START_ID, *encode(text, lab_tokenizer()).ids]).bits_per_token

    guessing = bits(ENGLISH, Transformer(UNTRAINED).eval())
    assert bits(ENGLISH, model) < bits(SHUFFLED, model) < guessing


def test_it_writes_words_of_its_texts(model: Transformer) -> None:
    prompt = encode("The government of the United", lab_tokenizer()).ids
    (step,) = generate(model, prompt, Sampling(greedy=True), steps=1)
    assert lab_tokenizer().pieces[step.token] == " States"


@torch.no_grad()
def test_it_copies_what_came_before(model: Transformer) -> None:
    tokens = torch.randint(2, 2048, (8, 40), generator=torch.Generator().manual_seed(5))
    logs = model(tokens.repeat(1, 2)).log_softmax(-1)
    right = logs[:, :-1].gather(-1, tokens.repeat(1, 2)[:, 1:, None])[..., 0]
    assert right[:, 40:].mean() > right[:, :39].mean() + 2


# scores of heads, on weights whose score is known


def test_the_second_half_repeats_the_first() -> None:
    tokens = repeated_tokens(100, first_id=4)
    assert tokens.shape == (BATCH, 2 * LENGTH)
    assert torch.equal(tokens[:, :LENGTH], tokens[:, LENGTH:])
    assert int(tokens.min()) >= 4
    assert int(tokens.max()) < 100
    assert torch.equal(tokens, repeated_tokens(100, first_id=4))
    assert not torch.equal(tokens, repeated_tokens(100, first_id=4, seed=1))


def test_a_head_that_looks_at_the_previous_token_scores_1() -> None:
    weights = torch.zeros(2, 3, 10, 10)
    weights[:, 1, range(1, 10), range(9)] = 1.0
    assert previous_token_scores(weights).tolist() == [0, 1, 0]


def test_a_head_that_looks_behind_the_first_occurrence_scores_1() -> None:
    """Naively: the query at place 5 + i holds the token of place i, after which stands i + 1."""
    weights = torch.zeros(2, 2, 10, 10)
    for i in range(5):
        weights[:, 0, 5 + i, i + 1] = 1.0
    assert induction_scores(weights, 5).tolist() == [1, 0]


def test_equal_weights_score_what_they_are() -> None:
    model = Transformer(TransformerConfig(vocab_size=50, architecture="decoder", d_model=16, num_heads=2)).eval()
    for layer in model.stack.layers:
        torch.nn.init.zeros_(layer.self_attention.query_projection.weight)
    scores = head_scores(model, first_id=1)
    places = torch.arange(1.0, 2 * LENGTH)
    assert scores.previous.flatten().tolist() == pytest.approx([(1 / (places + 1)).mean().item()] * 4, rel=1e-5)
    second = torch.arange(LENGTH, 2 * LENGTH - 0.0)
    assert scores.induction.flatten().tolist() == pytest.approx([(1 / (second + 1)).mean().item()] * 4, rel=1e-2)


def test_the_best_head_is_named_from_0() -> None:
    model = Transformer(TransformerConfig(vocab_size=50, architecture="decoder", d_model=16, num_heads=2)).eval()
    scores = head_scores(model, first_id=1)
    layer, head = scores.best(scores.previous)
    assert scores.previous[layer, head] == scores.previous.max()
