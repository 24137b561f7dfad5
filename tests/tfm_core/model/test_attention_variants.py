"""The other attentions: each against an explicit matrix, and what they refuse."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.tfm_core.toys import largest_error, scramble
from tfm_core import ATTENTION, causal_mask, recording
from tfm_core.model import linear_attention as linear
from tfm_core.model.attention import span_of
from tfm_core.model.linear_attention import causal_and_visible, linear_attention, linear_attention_weights

lengths = st.integers(1, 12)
every_attention = pytest.mark.parametrize("kind", ATTENTION)


def explicit(attention, x, mask):
    """The output of softmax attention with exactly this mask (query, key), from torch's own operations alone."""
    batch, length, d_model = x.shape
    q, k, v = (
        projection(x).view(batch, length, attention.num_heads, -1).transpose(1, 2)
        for projection in (attention.query_projection, attention.key_projection, attention.value_projection)
    )
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return attention.output_projection(heads.transpose(1, 2).reshape(batch, length, d_model))


@given(lengths, st.booleans(), st.booleans())
def test_a_window_and_a_stride_are_the_masks_of_their_papers(length, causal, recorded):
    x = torch.randn(2, length, 8)
    span = round(math.sqrt(length))
    distance = torch.tensor([[abs(query - key) for key in range(length)] for query in range(length)])
    near = distance < span
    mask = causal_mask(length) if causal else None
    for kind, pattern in {"window": near, "strided": near | (distance % span == 0)}.items():
        attention = scramble(ATTENTION[kind](8, 2))
        with recording(None if recorded else []):
            output = attention(x, mask=mask)
        assert largest_error(output, explicit(attention, x, pattern if mask is None else pattern & mask)) < 1e-5


@given(lengths, st.booleans(), st.booleans())
def test_fused_is_full_to_rounding_whether_recorded_or_not(length, causal, recorded):
    full, fused = (scramble(ATTENTION[kind](8, 2)) for kind in ("full", "fused"))
    fused.load_state_dict(full.state_dict())
    x = torch.randn(2, length, 8)
    mask = causal_mask(length) if causal else None
    with recording(None if recorded else []) as trace:
        output = fused(x, mask=mask)
    assert largest_error(output, explicit(full, x, mask)) < 1e-5
    assert ("weights" in trace) == recorded


def test_fused_takes_its_output_from_the_kernel_even_while_it_is_recorded(monkeypatch):
    attention, calls = ATTENTION["fused"](8, 2), []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or kernel(*a, **k))
    with recording():
        attention(torch.randn(1, 3, 8))
    assert calls == [1]


@given(lengths, st.booleans(), st.lists(st.booleans(), min_size=12, max_size=12))
def test_linear_gathers_by_the_weights_that_it_records(length, causal, shown):
    attention = scramble(ATTENTION["linear"](8, 2))
    x = torch.randn(1, length, 8)
    visible = torch.tensor(shown[:length])
    mask = (visible & causal_mask(length)) if causal else visible[None]
    with recording() as trace:
        output = attention(x, mask=mask)
    assert largest_error(output, attention(x, mask=mask)) < 1e-6
    assert "scores" not in trace
    phi = [F.elu(trace[name]) + 1 for name in ("query", "key")]
    pairs = (phi[0] @ phi[1].mT) * mask
    weights = pairs / pairs.sum(-1, keepdim=True).clamp(min=1e-30)
    assert largest_error(trace["weights"], weights) < 1e-5
    assert largest_error(trace["head_output"], weights @ trace["value"]) < 1e-5


@given(st.integers(2, 12), st.booleans(), st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_mask_is_split_into_causality_and_visible_keys(length, causal, shown):
    visible = torch.tensor(shown[:length])
    mask = visible & causal_mask(length) if causal else visible.expand(length, length)
    got_causal, got_visible = causal_and_visible(mask, length, length)
    again = got_visible[None] & causal_mask(length) if got_causal else got_visible.expand(length, length)
    assert torch.equal(again, mask)
    assert causal_and_visible(None, length, length) == (False, None)


def test_linear_attention_has_no_weights_to_drop():
    attention, x = scramble(ATTENTION["linear"](8, 2, dropout=0.5)).train(), torch.randn(1, 5, 8)
    assert torch.equal(attention(x), attention.eval()(x))


@every_attention
def test_the_future_does_not_reach_a_causal_output(kind):
    attention, x = scramble(ATTENTION[kind](8, 2)).double(), torch.randn(1, 9, 8, dtype=torch.float64)
    changed = x.clone()
    changed[:, 5:] = torch.randn(1, 4, 8, dtype=torch.float64)
    before, after = (attention(text, mask=causal_mask(9)) for text in (x, changed))
    assert torch.equal(before[:, :5], after[:, :5])
    assert largest_error(before[:, 5:], after[:, 5:]) > 1e-3


@every_attention
def test_all_weights_learn(kind):
    attention = scramble(ATTENTION[kind](8, 2))
    attention(torch.randn(2, 5, 8)).square().sum().backward()
    for name, parameter in attention.named_parameters():
        if name != "key_projection.bias" or kind == "linear":  # a softmax does not feel what all keys share
            assert parameter.grad.abs().max() > 1e-4, name


@given(st.integers(1, 5000))
def test_the_span_is_the_root_of_the_length(length):
    assert abs(span_of(length) - math.sqrt(length)) <= 0.5


# linear attention without its matrix, beside its explicit matrix


def drawn(queries: int, keys: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of two heads in float64, (2, seq, 4)."""
    random = torch.Generator().manual_seed(seed)
    q, k, v = (3 * torch.randn(2, n, 4, generator=random, dtype=torch.float64) for n in (queries, keys, keys))
    return q, k, v


@given(st.integers(1, 8), st.integers(1, 8), st.booleans(), st.integers(0, 99))
def test_it_is_its_explicit_matrix_times_the_values(queries: int, keys: int, causal: bool, seed: int) -> None:
    keys = queries if causal else keys
    q, k, v = drawn(queries, keys, seed)
    visible = torch.rand(keys, generator=torch.Generator().manual_seed(seed)) < 0.6
    for open_keys in (None, visible):
        weights = linear_attention_weights(q, k, causal=causal, visible=open_keys)
        torch.testing.assert_close(linear_attention(q, k, v, causal=causal, visible=open_keys), weights @ v)
        some = torch.ones(queries, keys, dtype=torch.bool) if open_keys is None else open_keys.expand(queries, keys)
        some = (some.tril() if causal else some).any(-1)
        torch.testing.assert_close(weights.sum(-1), some.double().expand(2, -1))
        assert not (weights < 0).any()
        assert not (causal and weights.triu(1).any())


@pytest.mark.parametrize("keys_at_once", [1, 2, 3, 7])
def test_causal_sums_of_a_few_keys_at_a_time_are_the_same_and_learn_the_same(monkeypatch, keys_at_once: int) -> None:
    gradients = []
    for numbers in (2**19, 2 * 4 * 4 * keys_at_once):
        monkeypatch.setattr(linear, "AT_ONCE", numbers)
        q, k, v = (x.requires_grad_() for x in drawn(7, 7, seed=3))
        output = linear_attention(q, k, v, causal=True)
        gradients.append([output, *torch.autograd.grad(output.square().sum(), (q, k, v))])
    for whole, pieces in zip(*gradients, strict=True):
        torch.testing.assert_close(pieces, whole)


def test_features_are_never_rounded_away() -> None:
    """The numbers are float32, where elu(-30) + 1 would be 0, and the row would have no weights."""
    weights = linear_attention_weights(torch.full((2, 4), -30.0), torch.full((3, 4), -5.0))
    torch.testing.assert_close(weights, torch.full((2, 3), 1 / 3))
