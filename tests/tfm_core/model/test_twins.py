"""torch's modules with our weights give our numbers."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_core.toys import TOLERANCE, build, largest_error, scramble
from tfm_core import NORMS, MultiHeadAttention, TransformerLayer, recording, to_ignore
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_core.model.torch_twin import as_torch


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_twin_of_attention_gives_our_output_and_our_weights(dtype, heads):
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


def test_the_twin_of_attention_is_a_copy_in_the_same_mode_and_draws_nothing():
    ours = build().stack.layers[0].self_attention.train()
    before = torch.get_rng_state()
    twin = as_torch(ours)
    assert torch.equal(before, torch.get_rng_state())
    assert twin.training
    with torch.no_grad():
        twin.out_proj.weight.zero_()
    assert ours.output_projection.weight.any()
    assert all(parameter.requires_grad for parameter in twin.parameters())


def layers(count=2, **changes):
    return [TransformerLayer(16, 4, 20, **changes) for _ in range(count)]


@pytest.mark.crossed(dtype=TOLERANCE, activation=["relu", "gelu", "silu"], norm=NORMS, fast_path=[True, False])
def test_the_twin_of_an_encoder_gives_our_output(dtype, activation, norm, fast_path):
    ours = scramble(nn.ModuleList(layers(activation=activation, norm=norm)), dtype)
    final_norm = scramble(nn.LayerNorm(16), dtype) if norm == "pre" else None
    x = expected = torch.randn(3, 5, 16, dtype=dtype)
    before = torch.get_rng_state()
    twin = as_torch_encoder(list(ours), final_norm)
    assert torch.equal(before, torch.get_rng_state())
    before_it = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(fast_path)
    try:
        with torch.inference_mode():
            for layer in ours:
                expected = layer(expected)
            expected = final_norm(expected) if final_norm else expected
            assert largest_error(twin(x), expected) < 10 * TOLERANCE[dtype]
    finally:
        torch.backends.mha.set_fastpath_enabled(before_it)


def test_the_twin_of_an_encoder_is_a_copy_in_the_same_mode_of_which_every_layer_is_its_own():
    ours = layers(3)
    twin = as_torch_encoder(ours, nn.LayerNorm(16))
    assert twin.training
    assert all(parameter.requires_grad for parameter in twin.parameters())
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert all(layer.self_attention.query_projection.weight.any() for layer in ours)
    assert not as_torch_encoder([layer.eval() for layer in ours], nn.LayerNorm(16)).training


@pytest.mark.parametrize("impossible", [layers(0), layers(activation="swiglu"), layers(cross_attention=True)])
def test_what_it_has_no_place_for_is_refused(impossible):
    with pytest.raises(ValueError, match="without a gate"):
        as_torch_encoder(impossible, nn.LayerNorm(16))


def test_dropout_and_activation_come_along():
    twin = as_torch_encoder(layers(activation="relu", dropout=0.25), nn.LayerNorm(16))
    block = twin.layers[0]
    assert block.activation is F.relu
    assert {block.dropout.p, block.dropout1.p, block.self_attn.dropout} == {0.25}
