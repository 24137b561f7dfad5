"""Linear attention: against its explicit matrix, which test_attention_variants.py compares with the equation."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tfm_core.model import linear_attention as linear
from tfm_core.model.linear_attention import linear_attention, linear_attention_weights


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


def test_what_does_not_fit_is_refused() -> None:
    q, k, v = drawn(3, 4, seed=0)
    with pytest.raises(ValueError, match="as many keys as queries, got 3 and 4"):
        linear_attention(q, k, v, causal=True)
    with pytest.raises(ValueError, match=r"boolean tensor.*got torch.float32"):
        linear_attention(q, k, v, visible=torch.ones(4))
