"""torch's module with our weights gives our numbers."""

import pytest
import torch

from tests.tfm_core.toys import TOLERANCE, build, largest_error, scramble
from tfm_core import MultiHeadAttention, recording, to_ignore
from tfm_core.model.torch_twin import as_torch


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_twin_gives_our_output_and_our_weights(dtype, heads):
    ours = scramble(MultiHeadAttention(16, heads), dtype)
    query, key = torch.randn(3, 5, 16, dtype=dtype), torch.randn(3, 7, 16, dtype=dtype)
    mask = (torch.rand(5, 7) < 0.6).index_fill(1, torch.tensor([2]), True)
    with torch.no_grad(), recording("*weights") as trace:
        output = ours(query, key, mask=mask)
    twin = as_torch(ours)
    expected, weights = twin(query, key, key, attn_mask=to_ignore(mask), average_attn_weights=False)
    assert largest_error(output, expected) < TOLERANCE[dtype]
    assert largest_error(trace["weights"], weights) < TOLERANCE[dtype]
    assert expected.dtype == dtype
    assert not twin.training


def test_it_is_a_copy_in_the_same_mode_and_draws_nothing():
    ours = build().stack.layers[0].self_attention.train()
    before = torch.get_rng_state()
    twin = as_torch(ours)
    assert torch.equal(before, torch.get_rng_state())
    assert twin.training
    with torch.no_grad():
        twin.out_proj.weight.zero_()
    assert ours.output_projection.weight.any()
    assert all(parameter.requires_grad for parameter in twin.parameters())
