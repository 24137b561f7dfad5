"""Equal to torch's own modules, when these are given the same weights."""

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
    causal_mask,
    padding_mask,
    recording,
    scaled_dot_product_attention,
    to_additive,
    to_ignore,
)

BATCH, QUERIES, KEYS, WIDTH, HEADS, HIDDEN = 3, 5, 7, 12, 3, 20

PATHS = [recording, nullcontext]  # recorded, fused

MASKS = {
    "none": None,
    "causal": causal_mask(QUERIES, KEYS),
    "padding": padding_mask(torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [1] + [0] * 6])),
    "per-head": (torch.arange(BATCH * HEADS * QUERIES * KEYS) % 3 != 1).view(BATCH, HEADS, QUERIES, KEYS),
}


def ahead(length):
    """The keys that a query may not see yet, in torch's convention and without our help."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def copy_linear(ours, theirs):
    theirs.weight.copy_(ours.weight)
    theirs.bias.copy_(ours.bias)


@torch.no_grad()
def copy_attention(ours, theirs):
    parts = (ours.query_projection, ours.key_projection, ours.value_projection)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    copy_linear(ours.output_projection, theirs.out_proj)


@torch.no_grad()
def copy_layer(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.self_attention_norm, ours.feed_forward_norm]
    if isinstance(theirs, nn.TransformerDecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_attention_norm)
        copy_linear(norms[2], theirs.norm3)
    copy_linear(norms[0], theirs.norm1)
    copy_linear(norms[1], theirs.norm2)
    copy_linear(ours.feed_forward.input_projection, theirs.linear1)
    copy_linear(ours.feed_forward.output_projection, theirs.linear2)


@pytest.mark.crossed(dtype=TOLERANCE, mask=MASKS.values(), scale=[None, 0.3])
def test_attention_function_equals_the_fused_kernel(dtype, mask, scale):
    query = torch.randn(BATCH, HEADS, QUERIES, 4, dtype=dtype)
    key = torch.randn(BATCH, HEADS, KEYS, 4, dtype=dtype)
    value = torch.randn(BATCH, HEADS, KEYS, 6, dtype=dtype)
    output, weights = scaled_dot_product_attention(query, key, value, mask, scale=scale)
    expected = F.scaled_dot_product_attention(query, key, value, mask, scale=scale)
    assert largest_error(output, expected) < TOLERANCE[dtype]
    assert largest_error(weights @ value, expected) < TOLERANCE[dtype]


@pytest.mark.crossed(dtype=TOLERANCE, path=PATHS, mask=MASKS.values())
def test_multi_head_attention(dtype, path, mask):
    ours = scramble(MultiHeadAttention(WIDTH, HEADS), dtype)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, dtype=dtype).eval()
    copy_attention(ours, theirs)
    query, key, value = (torch.randn(BATCH, n, WIDTH, dtype=dtype) for n in (QUERIES, KEYS, KEYS))
    ignore = None
    if mask is not None:
        ignore = to_ignore(mask).expand(BATCH, HEADS, QUERIES, KEYS).reshape(-1, QUERIES, KEYS)
    expected, expected_weights = theirs(query, key, value, attn_mask=ignore, average_attn_weights=False)
    with path() as trace:
        output = ours(query, key, value, mask)
    assert largest_error(output, expected) < TOLERANCE[dtype]
    if trace is not None:
        assert largest_error(trace["weights"], expected_weights) < TOLERANCE[dtype]


def test_the_additive_mask_means_the_same_to_torch():
    query, key = torch.randn(2, 1, QUERIES, 4), torch.randn(2, 1, KEYS, 4)
    mask = MASKS["causal"]
    by_float = F.scaled_dot_product_attention(query, key, key, to_additive(mask))
    assert largest_error(scaled_dot_product_attention(query, key, key, mask)[0], by_float) < 1e-6


def torch_stack(ours, dtype, *, decoder):
    """nn.TransformerEncoder or nn.TransformerDecoder with the weights of one of our stacks."""
    config = ours.config
    layer = (nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer)(
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
    if decoder:
        theirs = nn.TransformerDecoder(layer, config.num_layers, norm)
    else:
        theirs = nn.TransformerEncoder(layer, config.num_layers, norm, enable_nested_tensor=False)
    for our_layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(our_layer, their_layer)
    if norm is not None:
        with torch.no_grad():
            copy_linear(ours.final_norm, theirs.norm)
    return theirs.eval()


@pytest.mark.crossed(dtype=TOLERANCE, path=PATHS, norm=NORMS, activation=["relu", "gelu"])
def test_whole_encoder_decoder_with_padding_on_both_sides(dtype, path, norm, activation):
    config = tiny(architecture="encoder-decoder", positional="none", norm=norm, activation=activation, num_layers=3)
    ours = scramble(Transformer(config), dtype)
    source, target = random_ids(2, 6), random_ids(2, 5, seed=1)
    source[1, 4:] = target[0, 3:] = config.pad_id
    with path():
        logits = ours(source, target)

    encoder = torch_stack(ours.encoder, dtype, decoder=False)
    decoder = torch_stack(ours.decoder, dtype, decoder=True)
    loud = math.sqrt(config.d_model)
    memory = encoder(ours.encoder.embedding(source) * loud, src_key_padding_mask=source == 0)
    expected = decoder(
        ours.decoder.embedding(target) * loud,
        memory,
        tgt_mask=ahead(5),
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    assert logits.shape == (2, 5, VOCAB)
    assert largest_error(logits, ours.unembedding(expected)) < TOLERANCE[dtype]
