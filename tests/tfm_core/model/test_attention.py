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
    MultiHeadAttention,
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


@given(sizes, st.integers(0, 2**32), st.floats(0.01, 100))
def test_the_output_is_torchs_rows_sum_to_one_or_to_zero_and_hidden_cells_are_zero(size, seed, loudness):
    queries, keys, width = size
    mask = random_mask(2, queries, keys, seed=seed)
    query, key, value = (torch.randn(2, n, width, dtype=torch.float64) * loudness for n in (queries, keys, keys))
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    assert torch.allclose(weights.sum(-1), mask.any(-1).double(), atol=1e-12)
    assert not output[~mask.any(-1)].any()
    expected = F.scaled_dot_product_attention(query, key, value, mask).masked_fill(~mask.any(-1, keepdim=True), 0)
    torch.testing.assert_close(output, expected)


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


X = torch.zeros(2, 3, 8)
BAD_CALLS = {
    "heads that do not divide": (lambda a: MultiHeadAttention(8, 3), ["d_model=8", "3"]),
    "no heads": (lambda a: MultiHeadAttention(8, 0), ["num_heads", "0"]),
    "no batch": (lambda a: a(X[0]), ["query", "(batch, seq, d_model=8)", "(3, 8)"]),
    "query of another width": (lambda a: a(X[..., :7]), ["query", "d_model=8", "(2, 3, 7)"]),
    "key of another width": (lambda a: a(X, X[..., :7]), ["key", "d_model=8", "(2, 3, 7)"]),
    "empty sequence": (lambda a: a(X[:, :0]), ["non-empty", "(2, 0, 8)"]),
    "empty batch": (lambda a: a(X[:0]), ["non-empty", "(0, 3, 8)"]),
    "other batch": (lambda a: a(X, X[:1]), ["one batch", "(2, 3, 8)", "(1, 3, 8)"]),
    "value shorter than key": (lambda a: a(X, X, X[:, :2]), ["one length", "(2, 2, 8)"]),
    "mask of floats": (lambda a: a(X, mask=torch.ones(3, 3)), ["torch.bool", "torch.float32"]),
    "mask of another shape": (lambda a: a(X, mask=causal_mask(4)), ["(2, 2, 3, 3)", "(4, 4)"]),
    "mask with too many axes": (lambda a: a(X, mask=causal_mask(3)[(None,) * 3]), ["(2, 2, 3, 3)", "(1, 1, 1, 3, 3)"]),
    "mask of keys too few": (lambda a: a(X, mask=causal_mask(3, 2)), ["(2, 2, 3, 3)", "(3, 2)"]),
}


@pytest.mark.parametrize(("call", "parts"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_what_does_not_fit_is_refused_in_words(call, parts):
    attention = MultiHeadAttention(8, 2)
    with pytest.raises(ValueError, match="expected") as error:
        call(attention)
    assert all(part in str(error.value) for part in parts)


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (5, 6), (5, 4)),
        ((3, 4), (5, 4), (6, 4)),
        ((3, 4), (0, 4), (0, 4)),
        ((4,), (5, 4), (5, 4)),
        ((2, 3, 4), (5, 5, 4), (5, 5, 4)),
    ],
    ids=["head_dim", "number of keys", "no keys", "one axis", "batch"],
)
def test_the_function_refuses_shapes_that_do_not_fit(shapes):
    with pytest.raises(ValueError, match=r"expected query .* got \("):
        scaled_dot_product_attention(*map(torch.zeros, shapes))


@pytest.mark.parametrize(
    ("mask", "part"), [(torch.ones(3, 5), "torch.bool"), (causal_mask(3, 4), r"\(2, 3, 5\), got \(3, 4\)")]
)
def test_the_function_refuses_bad_masks(mask, part):
    with pytest.raises(ValueError, match=part):
        scaled_dot_product_attention(torch.zeros(2, 3, 4), torch.zeros(2, 5, 4), torch.zeros(2, 5, 4), mask)
