"""Beam search: beside transformers, greedy, every text there is, and the sums of a plain pass."""

from functools import cache

import pytest
import torch

from tests.tfm_core.generation.writing import PROMPT, decoder, every_scheme, tokens_of
from tests.tfm_core.toys import VOCAB, build, scramble
from tfm_core import ATTENTION, Sampling, beam_search, generate, to_gpt2


def score_of(model, tokens, prompt=PROMPT):
    return scores_of(model, [tokens], prompt)[0]


@torch.no_grad()
def scores_of(model, texts, prompt=PROMPT):
    """The scores of texts that are as long as each other, in one plain pass."""
    every = model(torch.tensor([[*prompt, *tokens] for tokens in texts])).double().log_softmax(-1)
    return [
        sum(logs[len(prompt) - 1 + number, token].item() for number, token in enumerate(tokens))
        for logs, tokens in zip(every, texts, strict=True)
    ]


@cache
def both_models(seed):
    """Ours and its twin in transformers, for all tests that run them and leave them as they are."""
    torch.manual_seed(seed)
    model = scramble(build(architecture="decoder", pad_id=VOCAB - 1, num_layers=1))
    with torch.no_grad():  # ours does not read padding, so it is never written
        model.unembedding.weight[VOCAB - 1] = 0
    return model, to_gpt2(model)


@every_scheme
def test_a_single_beam_is_greedy(positional):
    model = decoder(positional=positional)
    searched = beam_search(model, PROMPT, width=1, steps=15)
    assert list(searched.texts[0].tokens) == tokens_of(generate(model, PROMPT, Sampling(greedy=True), steps=15))
    assert all(step.beams[0].parent == 0 for step in searched.steps)


@every_scheme
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_scores_are_the_sums_of_a_plain_pass(positional, width):
    model = decoder(positional=positional)
    searched = beam_search(model, PROMPT, width=width, steps=10, end_id=4)
    for text in searched.texts:
        assert text.score == pytest.approx(score_of(model, text.tokens), abs=1e-4)
        assert text.rating == pytest.approx(text.score / len(text.tokens))
    for number, step in enumerate(searched.steps):
        assert [*step.beams] == sorted(step.beams, key=lambda beam: -beam.score)
        assert len(step.beams) == width
        texts = [searched.tokens_of(number, place) for place in range(width)]
        assert all(len(tokens) == number + 1 for tokens in texts)
        for beam, score in zip(step.beams, scores_of(model, texts), strict=True):
            assert beam.score == pytest.approx(score, abs=1e-4)
            before = searched.steps[number - 1].beams[beam.parent].score if number else 0
            assert beam.log_probability == pytest.approx(beam.score - before)
            assert beam.token != 4
    ratings = [text.rating for text in searched.texts]
    assert ratings == sorted(ratings, reverse=True)


@torch.no_grad()
@pytest.mark.crossed(width=[1, 2, 3, 5, 8], penalty=[1.0, 0.0, 2.0, -1.0], end_id=[None, 3, 11])
def test_texts_are_those_of_transformers(width, penalty, end_id):
    compared = 0
    for seed in range(4):
        model, twin = both_models(seed)
        searched = beam_search(model, PROMPT, width=width, steps=12, end_id=end_id, length_penalty=penalty)
        prompt = torch.tensor([PROMPT])
        theirs = twin.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            num_beams=width,
            num_return_sequences=width,
            max_new_tokens=12,
            do_sample=False,
            eos_token_id=end_id,
            pad_token_id=VOCAB - 1,
            length_penalty=penalty,
            early_stopping=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        texts = [tuple(row[len(PROMPT) :]) for row in theirs.sequences.tolist()]
        if any(VOCAB - 1 in text.tokens for text in searched.texts):
            continue
        compared += 1
        ours = [text.tokens + (VOCAB - 1,) * (len(texts[0]) - len(text.tokens)) for text in searched.texts]
        assert ours == texts
        if width > 1:
            ratings = [text.rating for text in searched.texts]
            assert ratings == pytest.approx(theirs.sequences_scores.tolist(), abs=1e-3)
    assert compared >= 2


@pytest.mark.parametrize("name", [name for name, kind in ATTENTION.items() if not kind.has_cache])
def test_kinds_without_a_cache_are_read_anew_each_time(name):
    model = decoder(attention=name)
    searched = beam_search(model, PROMPT, width=1, steps=8)
    steps = generate(model, PROMPT, Sampling(greedy=True), steps=8, use_cache=False)
    assert list(searched.texts[0].tokens) == tokens_of(steps)


def test_each_step_reads_a_token_of_each_beam(read):
    beam_search(decoder(), PROMPT, width=4, steps=6)
    assert read == [3, 1, 1, 1, 1, 1]
