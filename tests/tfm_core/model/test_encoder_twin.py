"""torch's encoder with our weights gives our numbers."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_core.toys import TOLERANCE, largest_error, scramble
from tfm_core import TransformerLayer
from tfm_core.model.encoder_twin import as_torch_encoder


def layers(count=2, **changes):
    return [TransformerLayer(16, 4, 20, **changes) for _ in range(count)]


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("fast_path", [True, False])
def test_the_twin_gives_our_output(dtype, activation, norm, fast_path):
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


def test_it_is_a_copy_in_the_same_mode_of_which_every_layer_is_its_own():
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
