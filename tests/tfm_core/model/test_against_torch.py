"""Equal to torch's own modules with the same weights; the twins that give them these weights are copies."""

import math
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_core.toys import TOLERANCE, VOCAB, largest_error, random_ids, scramble, tiny
from tfm_core import (
    NORMS,
    MultiHeadAttention,
    Transformer,
    TransformerLayer,
    causal_mask,
    padding_mask,
    recording,
    to_ignore,
)
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_core.model.torch_twin import as_torch

BATCH, QUERIES, KEYS, WIDTH, HEADS = 3, 5, 7, 12, 3

PATHS = [recording, nullcontext]  # recorded, fused

MASKS = {
    "none": None,
    "causal": causal_mask(QUERIES, KEYS),
    "padding": padding_mask(torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [1] + [0] * 6])),
    "per-head": (torch.arange(BATCH * HEADS * QUERIES * KEYS) % 3 != 1).view(BATCH, HEADS, QUERIES, KEYS),
}


@pytest.mark.crossed(dtype=TOLERANCE, path=PATHS, mask=MASKS.values())
def test_attention_and_its_twin_give_the_same_outputs_and_weights(dtype, path, mask):
    ours = scramble(MultiHeadAttention(WIDTH, HEADS), dtype)
    query, key, value = (torch.randn(BATCH, n, WIDTH, dtype=dtype) for n in (QUERIES, KEYS, KEYS))
    ignore = None
    if mask is not None:
        ignore = to_ignore(mask).expand(BATCH, HEADS, QUERIES, KEYS).reshape(-1, QUERIES, KEYS)
    expected, expected_weights = as_torch(ours)(query, key, value, attn_mask=ignore, average_attn_weights=False)
    with path() as trace:
        output = ours(query, key, value, mask)
    assert largest_error(output, expected) < TOLERANCE[dtype]
    if trace is not None:
        assert largest_error(trace["weights"], expected_weights) < TOLERANCE[dtype]


def as_torch_decoder(ours, dtype):
    """nn.TransformerDecoder with the weights of our stack."""
    config = ours.config
    layer = nn.TransformerDecoderLayer(
        config.d_model,
        config.num_heads,
        config.feed_forward_dim,
        dropout=0.0,
        activation=config.activation,
        batch_first=True,
        norm_first=config.norm == "pre",
        dtype=dtype,
    )
    norm = nn.LayerNorm(config.d_model, dtype=dtype) if config.norm == "pre" else None
    theirs = nn.TransformerDecoder(layer, config.num_layers, norm)
    parts = {} if norm is None else {"norm": ours.final_norm}
    for number, layer in enumerate(ours.layers):
        parts |= {
            f"layers.{number}.self_attn": as_torch(layer.self_attention),
            f"layers.{number}.multihead_attn": as_torch(layer.cross_attention),
            f"layers.{number}.norm1": layer.self_attention_norm,
            f"layers.{number}.norm2": layer.cross_attention_norm,
            f"layers.{number}.norm3": layer.feed_forward_norm,
            f"layers.{number}.linear1": layer.feed_forward.input_projection,
            f"layers.{number}.linear2": layer.feed_forward.output_projection,
        }
    tensors = {f"{part}.{name}": x for part, module in parts.items() for name, x in module.state_dict().items()}
    theirs.load_state_dict(tensors)
    return theirs.eval()


@pytest.mark.crossed(dtype=TOLERANCE, path=PATHS, norm=NORMS, activation=["relu", "gelu"])
def test_whole_encoder_decoder_with_padding_on_both_sides(dtype, path, norm, activation):
    config = tiny(architecture="encoder-decoder", positional="none", norm=norm, activation=activation, num_layers=3)
    ours = scramble(Transformer(config), dtype)
    source, target = random_ids(2, 6), random_ids(2, 5, seed=1)
    source[1, 4:] = target[0, 3:] = config.pad_id
    with path():
        logits = ours(source, target)

    encoder = as_torch_encoder(list(ours.encoder.layers), ours.encoder.final_norm)
    loud = math.sqrt(config.d_model)
    memory = encoder(ours.encoder.embedding(source) * loud, src_key_padding_mask=source == 0)
    expected = as_torch_decoder(ours.decoder, dtype)(
        ours.decoder.embedding(target) * loud,
        memory,
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),  # True = may not be seen, without our help
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    assert logits.shape == (2, 5, VOCAB)
    assert largest_error(logits, ours.unembedding(expected)) < TOLERANCE[dtype]


def layers(count=2, **changes):
    return [TransformerLayer(16, 4, 20, **changes) for _ in range(count)]


@pytest.mark.crossed(dtype=TOLERANCE, activation=["relu", "gelu", "silu"], norm=NORMS, fast_path=[True, False])
def test_the_twin_of_an_encoder_gives_our_output_on_its_fast_path_too(dtype, activation, norm, fast_path):
    ours = scramble(nn.ModuleList(layers(activation=activation, norm=norm)), dtype)
    final_norm = scramble(nn.LayerNorm(16), dtype) if norm == "pre" else None
    x = expected = torch.randn(3, 5, 16, dtype=dtype)
    twin = as_torch_encoder(list(ours), final_norm)
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


def test_twins_are_copies_in_the_same_mode_and_to_make_them_draws_nothing():
    ours = nn.ModuleList(layers(3, activation="relu", dropout=0.25))
    kept, random_state = {name: value.clone() for name, value in ours.state_dict().items()}, torch.get_rng_state()
    for twin in (as_torch(ours[0].self_attention), as_torch_encoder(list(ours), nn.LayerNorm(16))):
        assert twin.training
        assert all(parameter.requires_grad for parameter in twin.parameters())
        with torch.no_grad():
            for parameter in twin.parameters():
                parameter.fill_(7.0)
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(torch.equal(value, kept[name]) for name, value in ours.state_dict().items())
    block = twin.layers[0]
    assert block.activation is F.relu
    assert {block.dropout.p, block.dropout1.p, block.self_attn.dropout} == {0.25}
    assert not as_torch_encoder([layer.eval() for layer in ours], nn.LayerNorm(16)).training
