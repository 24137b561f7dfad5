"""The costs of each attention, against masks written out and what torch counts."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tfm_core import ATTENTION, attention_costs, causal_mask, recording, visible_pairs


@given(st.sampled_from(list(ATTENTION)), st.integers(1, 40), st.booleans())
def test_pairs_are_those_of_the_mask_written_out(attention, n, causal):
    with recording("mask") as trace, torch.no_grad():
        ATTENTION[attention](8, 2)(torch.randn(1, n, 8), mask=causal_mask(n) if causal else None)
    assert visible_pairs(attention, n, causal=causal) == int(trace["mask"].sum())


@pytest.mark.parametrize("attention", [name for name in ATTENTION if name != "fused"])  # not counted on a CPU
def test_what_is_computed_is_what_torch_counts(attention):
    n, d = 9, 8
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        ATTENTION[attention](d, 2)(torch.randn(1, n, d))
    products = counter.get_total_flops() // 2 - 4 * n * d * d
    normaliser = n * d if attention == "linear" else 0  # the code multiplies and sums it without a product of matrices
    assert products + normaliser == attention_costs(attention, n, d_model=d, num_heads=2).computed


@given(st.integers(1, 300), st.sampled_from([1, 2, 4]))
def test_full_and_linear_cost_what_the_papers_say(n, heads):
    d = 8
    full, linear = (attention_costs(name, n, d_model=d, num_heads=heads) for name in ("full", "linear"))
    assert full == (n * n, 2 * n * n * d, 2 * n * n * d, heads * n * n)
    products = 2 * n * d * d // heads + n * d
    assert linear == (n * n, products, products, d * d // heads + d)
    assert (linear.needed < full.needed) == (d // heads + 0.5 < n)


@given(st.integers(4, 5000))
def test_windows_and_strides_need_about_n_root_n(n):
    """Child et al. 2019: causal, 1 to 1.5 times n sqrt(n) at a stride of sqrt(n), which is rounded here."""
    assert 0.6 < visible_pairs("window", n, causal=True) / n**1.5 <= 1.15
    assert 0.8 < visible_pairs("strided", n, causal=True) / n**1.5 <= 1.75


def test_an_unknown_attention_is_refused():
    with pytest.raises(ValueError, match="attention"):
        attention_costs("half", 3, d_model=8, num_heads=2)
