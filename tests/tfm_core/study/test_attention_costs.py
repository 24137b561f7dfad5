"""The costs of each attention, against masks written out and what torch counts, and tiled attention in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tfm_core import (
    ATTENTION,
    attention_costs,
    causal_mask,
    recording,
    scaled_dot_product_attention,
    visible_pairs,
)
from tfm_core.study.tiling import tiled_attention, tiles


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


# tiled attention: the same as the plain computation, step by step


def drawn(queries: int, keys: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values in float64, (seq, 4); scores are large enough to overflow without the maximum."""
    random = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(n, 4, generator=random, dtype=torch.float64) for n in (queries, keys, keys))
    return 40 * q, 40 * k, v


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
def test_any_tiling_gives_torchs_result(queries: int, keys: int, rows: int, columns: int, seed: int) -> None:
    q, k, v = drawn(queries, keys, seed)
    mask = torch.rand(queries, keys, generator=torch.Generator().manual_seed(seed)) < 0.6
    expected = F.scaled_dot_product_attention(q, k, v, mask).masked_fill(~mask.any(-1, keepdim=True), 0.0)
    torch.testing.assert_close(tiled_attention(tiles(q, k, v, mask, rows=rows, columns=columns)), expected)
    torch.testing.assert_close(
        tiled_attention(tiles(q, k, v, rows=rows, columns=columns)), F.scaled_dot_product_attention(q, k, v)
    )


def test_each_step_is_the_attention_over_the_keys_so_far() -> None:
    q, k, v = drawn(7, 7, seed=3)
    mask = causal_mask(7)
    steps = list(tiles(q, k, v, mask, rows=3, columns=2))
    assert len(steps) == 3 * 4
    for step in steps:
        allowed = mask[step.queries, : step.keys.stop]
        scores = (q[step.queries] @ k[: step.keys.stop].T / 2).masked_fill(~allowed, -math.inf)
        torch.testing.assert_close(step.maximum, scores.amax(-1, keepdim=True))
        torch.testing.assert_close(step.total, (scores - step.maximum).exp().sum(-1, keepdim=True))
        output, _ = scaled_dot_product_attention(q[step.queries], k[: step.keys.stop], v[: step.keys.stop], allowed)
        torch.testing.assert_close(step.result, output)
