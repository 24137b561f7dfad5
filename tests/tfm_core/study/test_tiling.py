"""Tiled attention: in float64 the same as the plain computation, step by step."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import causal_mask, scaled_dot_product_attention
from tfm_core.study.tiling import tiled_attention, tiles


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


@pytest.mark.parametrize(
    ("shapes", "size", "expected"),
    [
        (((3, 4), (3, 5), (3, 4)), (1, 1), r"expected query \(query, head_dim\).*\(3, 5\)"),
        (((1, 3, 4), (3, 4), (3, 4)), (1, 1), r"got \(1, 3, 4\)"),
        (((3, 4), (3, 4), (2, 4)), (1, 1), r"got .*\(2, 4\)"),
        (((3, 4), (3, 4), (3, 4)), (0, 1), "at least one row and one column, got 0 and 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    shapes: tuple[tuple[int, ...], ...], size: tuple[int, int], expected: str
) -> None:
    q, k, v = (torch.zeros(shape) for shape in shapes)
    with pytest.raises(ValueError, match=expected):
        list(tiles(q, k, v, rows=size[0], columns=size[1]))
