"""Aggregates of heads, beside loops and matrix products in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording
from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads


def drawn(layers: int, heads: int, size: int, seed: int, *, causal: bool = False) -> list[torch.Tensor]:
    """Weights of some layers, (head, query, key)."""
    scores = torch.randn(layers, heads, size, size, generator=torch.Generator().manual_seed(seed)) * 3
    if causal:
        scores = scores.masked_fill(~torch.ones(size, size).tril().bool(), -torch.inf)
    return list(scores.softmax(-1))


def rolled(layers: list[torch.Tensor]) -> np.ndarray:
    """Equation 1 and 2 of the paper, token by token: what each place holds of each input, layer after layer."""
    size = layers[0].shape[-1]
    holds = np.eye(size)
    for weights in layers:
        after = np.zeros((size, size))
        for query in range(size):
            shares = [float(sum(head[query, key] for head in weights.double())) / len(weights) for key in range(size)]
            shares[query] += 1
            for key in range(size):
                after[query] += shares[key] / sum(shares) * holds[key]
        holds = after
    return holds


@given(layers=st.integers(1, 4), heads=st.integers(1, 3), size=st.integers(1, 6), seed=st.integers(0, 99))
def test_rollout_is_what_flows_through_all_layers(layers, heads, size, seed):
    weights = drawn(layers, heads, size, seed)
    np.testing.assert_allclose(attention_rollout(weights), rolled(weights), atol=1e-6)


def test_rollout_of_a_real_model():
    tokens = encode("the cat sat on the mat")
    with torch.no_grad(), recording("*.weights") as trace:
        Transformer(TransformerConfig(vocab_size=4096, num_layers=3, seed=1)).eval()(tokens.batch, mask=causal_mask(6))
    layers = [weights[0] for weights in trace.values()]
    rollout = attention_rollout(iter(layers))
    np.testing.assert_allclose(rollout, rolled(layers), atol=1e-6)
    assert not rollout.triu(1).any()  # nobody holds anything of what comes later
    first = (layers[0].double().mean(0) + torch.eye(6)) / 2
    np.testing.assert_allclose(attention_rollout(layers[:1]), first, atol=1e-6)


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
    mean, largest = mean_over_heads(weights), max_over_heads(weights)
    for q, k in np.ndindex(rows, keys):
        cell = [float(weights[h, q, k]) for h in range(heads)]
        assert mean[q, k].item() == pytest.approx(sum(cell) / heads, abs=1e-6)
        assert largest[q, k].item() == max(cell)
    assert mean.sum(-1).tolist() == pytest.approx([1] * rows, abs=1e-5)


def test_what_has_no_rollout_is_refused():
    with pytest.raises(ValueError, match=r"as many keys as queries; got weights \(2, 3, 4\)"):
        attention_rollout([torch.ones(2, 3, 4)])
    with pytest.raises(ValueError, match="at least one layer, got none"):
        attention_rollout([])
