"""Scores of heads, on weights whose score is known, and on a model that has learned to copy."""

import pytest
import torch

from tfm_core import Transformer
from tfm_core.language.head_scores import (
    BATCH,
    LENGTH,
    head_scores,
    induction_scores,
    previous_token_scores,
    repeated_tokens,
)
from tfm_core.model.config import TransformerConfig


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
