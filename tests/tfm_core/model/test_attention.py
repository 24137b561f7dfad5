"""Attention: the laws of its rows, and what it says to inputs that do not fit."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import broadcasting_to, largest_error, scramble
from tfm_core import (
    ATTENTION,
    attention_scores,
    attention_weights,
    causal_mask,
    mask_scores,
    recording,
    scaled_dot_product_attention,
)

sizes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5))
every_attention = pytest.mark.parametrize("kind", ATTENTION)
WITH_SCORES = [kind for kind, entry in ATTENTION.items() if entry.has_scores]
with_scores = pytest.mark.parametrize("kind", WITH_SCORES)
SHAPES = broadcasting_to(2, 2, 3, 4)


def random_mask(*shape, seed):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.4


@given(sizes, st.integers(0, 2**32), st.floats(0.01, 100), st.sampled_from([None, 0.3]))
def test_the_output_is_torchs_rows_sum_to_one_or_to_zero_and_hidden_cells_are_zero(size, seed, loudness, scale):
    queries, keys, width = size
    mask = random_mask(2, queries, keys, seed=seed)
    query, key = (torch.randn(2, n, width, dtype=torch.float64) * loudness for n in (queries, keys))
    value = torch.randn(2, keys, width + 1, dtype=torch.float64)
    output, weights = scaled_dot_product_attention(query, key, value, mask, scale=scale)
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    assert torch.allclose(weights.sum(-1), mask.any(-1).double(), atol=1e-12)
    assert not output[~mask.any(-1)].any()
    expected = F.scaled_dot_product_attention(query, key, value, mask, scale=scale)
    torch.testing.assert_close(output, expected.masked_fill(~mask.any(-1, keepdim=True), 0))
    everything, _ = scaled_dot_product_attention(query, key, value, scale=scale)
    torch.testing.assert_close(everything, F.scaled_dot_product_attention(query, key, value, scale=scale))


def test_the_steps_compose_to_the_whole():
    query, key, value = torch.randn(3, 2, 5, 4)
    mask = causal_mask(5)
    scores = attention_scores(query, key, scale=0.7, bias=torch.ones(5, 5))
    assert largest_error(scores, query @ key.mT * 0.7 + 1) < 1e-5
    assert torch.equal(mask_scores(scores, None), scores)
    assert torch.equal(mask_scores(scores, mask) == -math.inf, (~mask).expand(2, 5, 5))
    weights = attention_weights(mask_scores(scores, mask), mask)
    output, expected = scaled_dot_product_attention(query, key, value, mask, scale=0.7)
    assert largest_error(weights, expected) < 1e-6  # a constant bias changes nothing
    assert largest_error(weights @ value, output) < 1e-6


def test_a_nan_that_no_mask_explains_stays_in_sight():
    scores = torch.tensor([[0.0, math.nan], [-math.inf, -math.inf]])
    mask = torch.tensor([[True, True], [False, False]])
    weights = attention_weights(scores, mask)
    assert weights[0].isnan().all()
    assert not weights[1].any()


@pytest.mark.parametrize("recorded", [True, False])
@every_attention
def test_a_query_with_nothing_to_attend_to_gathers_nothing_and_has_finite_gradients(kind, recorded):
    attention = ATTENTION[kind](8, 2)
    x = torch.randn(2, 4, 8, requires_grad=True)
    mask = causal_mask(4) & torch.tensor([False, False, True, True])
    with recording(None if recorded else []):
        output = attention(x, mask=mask)
    assert largest_error(output[:, :2], attention.output_projection.bias.expand(2, 2, 8)) < 1e-6
    output.square().sum().backward()
    assert all(p.grad.isfinite().all() for p in [x, *attention.parameters()])
    assert x.grad[:, 2:].any()


@every_attention
def test_key_defaults_to_query_and_value_to_key(kind):
    attention = scramble(ATTENTION[kind](8, 2))
    x, y = torch.randn(2, 2, 3, 8)
    assert torch.equal(attention(x), attention(x, x, x))
    assert torch.equal(attention(x, y), attention(x, y, y))
    assert largest_error(attention(x, y, x), attention(x, y)) > 1e-3


@pytest.mark.crossed(shape=SHAPES, kind=WITH_SCORES, recorded=[True, False])
def test_a_mask_of_any_shape_that_broadcasts_means_the_same_as_written_out(kind, shape, recorded):
    attention = scramble(ATTENTION[kind](8, 2))
    x, y = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    mask = random_mask(*shape, seed=1)
    with recording() as trace:
        expected = attention(x, y, mask=mask.expand(2, 2, 3, 4))
    pattern = ATTENTION[kind].pattern(3, 4)
    visible = mask if pattern is None else mask & pattern
    assert torch.equal(trace["masked_scores"] == -math.inf, ~visible.expand(2, 2, 3, 4))
    with recording(None if recorded else []):
        assert largest_error(attention(x, y, mask=mask), expected) < 1e-5


@pytest.mark.parametrize("recorded", [True, False])
@with_scores
def test_dropout_acts_while_training_alone_and_after_the_weights_are_recorded(kind, recorded):
    attention = ATTENTION[kind](8, 2, dropout=0.5)
    x = torch.randn(2, 6, 8)
    with recording(None if recorded else []) as trace:
        trained = [attention.train()(x) for _ in range(2)]
        if recorded:
            assert torch.allclose(trace["weights"].sum(-1), torch.ones(()), atol=1e-5)
        still = [attention.eval()(x) for _ in range(2)]
    assert largest_error(*trained) > 1e-3
    assert torch.equal(*still)
    assert largest_error(still[0], ATTENTION[kind].forward(attention, x)) < 1e-6
