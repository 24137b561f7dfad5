"""Aggregates of heads, beside loops and matrix products in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads


def drawn(layers: int, heads: int, size: int, seed: int, *, causal: bool = False) -> list[torch.Tensor]:
    """Weights of some layers, (head, query, key)."""
    scores = torch.randn(layers, heads, size, size, generator=torch.Generator().manual_seed(seed)) * 3
    if causal:
        scores = scores.masked_fill(~torch.ones(size, size).tril().bool(), -torch.inf)
    return list(scores.softmax(-1))


@given(
    layers=st.integers(1, 4),
    heads=st.integers(1, 3),
    size=st.integers(1, 6),
    seed=st.integers(0, 99),
    causal=st.booleans(),
)
def test_rollout_is_what_flows_through_all_layers(layers, heads, size, seed, causal):
    """Equation 1 and 2 of the paper, in float64: what each place holds of each input, layer after layer."""
    weights, holds = drawn(layers, heads, size, seed, causal=causal), np.eye(size)
    for layer in weights:
        shares = layer.double().mean(0).numpy() + np.eye(size)
        holds = shares / shares.sum(1, keepdims=True) @ holds
    rollout = attention_rollout(iter(weights))
    np.testing.assert_allclose(rollout, holds, atol=1e-6)
    assert not (causal and rollout.triu(1).any())  # nobody holds anything of what comes later


@given(causal=st.booleans(), size=st.integers(1, 8), seed=st.integers(0, 99))
def test_rows_of_a_rollout_sum_to_1_even_where_nothing_may_be_seen(causal, size, seed):
    weights = drawn(3, 2, size, seed, causal=causal)
    for layer in weights:
        layer[:, -1] = 0  # as a row that is masked altogether
    rollout = attention_rollout(weights)
    np.testing.assert_allclose(rollout.sum(-1), 1, atol=1e-5)
    assert rollout[-1].tolist() == [0.0] * (size - 1) + [1.0]


def test_rollout_works_on_a_batch():
    weights = torch.stack(drawn(2, 3, 5, 0)), torch.stack(drawn(2, 3, 5, 1))  # of two layers, (batch, head, ...)
    for sentence in range(2):
        alone = attention_rollout([layer[sentence] for layer in weights])
        np.testing.assert_allclose(attention_rollout(weights)[sentence], alone, atol=1e-7)


@given(heads=st.integers(1, 5), rows=st.integers(1, 4), keys=st.integers(1, 5), seed=st.integers(0, 99))
def test_mean_and_largest_over_heads(heads, rows, keys, seed):
    weights = torch.rand(heads, rows, keys, generator=torch.Generator().manual_seed(seed)).softmax(-1)
    mean = mean_over_heads(weights)
    np.testing.assert_allclose(mean, weights.numpy().mean(0), atol=1e-6)
    np.testing.assert_array_equal(max_over_heads(weights), weights.numpy().max(0))
    assert mean.sum(-1).tolist() == pytest.approx([1] * rows, abs=1e-5)
