"""The encoders that core.py compares: ours, torch's and x-transformers'; and a check that they do the same work."""

from collections.abc import Callable
from importlib import import_module

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core import Transformer, TransformerConfig, TransformerLayer, recording
from tfm_core.model.encoder_twin import as_torch_encoder

Encode = Callable[[Tensor], Tensor]
WithWeights = Callable[[Tensor], tuple[Tensor, list[Tensor]]]


def our_encoder(d_model: int, heads: int, layers: int) -> tuple[Encode, list[TransformerLayer], nn.LayerNorm]:
    """Our encoder's layers and its final norm, without the embedding, which the other encoders do not have either."""
    config = TransformerConfig(
        vocab_size=2, d_model=d_model, num_heads=heads, num_layers=layers, activation="relu", positional="none"
    )
    stack = Transformer(config).eval().stack
    blocks = [block for block in stack.layers if isinstance(block, TransformerLayer)]
    norm = stack.final_norm
    assert len(blocks) == layers
    assert isinstance(norm, nn.LayerNorm)

    def encode(x: Tensor) -> Tensor:
        for block in blocks:
            x = block(x, positional=stack.positional)
        x = norm(x)
        return x

    return encode, blocks, norm


def recorded(encode: Encode, sites: str | None) -> Encode:
    """The same pass inside a recording."""

    def run(x: Tensor) -> Tensor:
        with recording(sites):
            return encode(x)

    return run


def without_fast_path(theirs: Encode) -> Encode:
    """nn.TransformerEncoder without its fast path: Python code that calls F.scaled_dot_product_attention."""

    def run(x: Tensor) -> Tensor:
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return theirs(x)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)

    return run


def with_torch_weights(theirs: nn.TransformerEncoder) -> WithWeights:
    """The same encoder, with the weights of all heads from nn.MultiheadAttention."""

    def run(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        kept = []
        for block in theirs.layers:
            assert isinstance(block, nn.TransformerEncoderLayer)
            y = block.norm1(x)
            y, weights = block.self_attn(y, y, y, need_weights=True, average_attn_weights=False)
            kept.append(weights)
            x = x + y
            x = x + block.linear2(F.relu(block.linear1(block.norm2(x))))
        assert theirs.norm is not None
        return theirs.norm(x), kept

    return run


def with_x_weights(d_model: int, heads: int, layers: int) -> WithWeights:
    """x-transformers' pre-norm encoder of the same size; its attention has no biases, so it does slightly less work."""
    encoder = import_module("x_transformers").Encoder(  # not at the top: it warns when imported, and has no types
        dim=d_model,
        depth=layers,
        heads=heads,
        attn_dim_head=d_model // heads,
        ff_mult=4,
        ff_custom_activation=nn.ReLU(),
    )
    encoder.eval()

    def run(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        y, inside = encoder(x, return_hiddens=True)
        return y, [attention.post_softmax_attn for attention in inside.attn_intermediates]

    return run


def encoders(d_model: int, heads: int, layers: int) -> dict[str, Encode | WithWeights]:
    """All encoders of one size, ours first."""
    encode, blocks, norm = our_encoder(d_model, heads, layers)
    theirs = as_torch_encoder(blocks, norm)
    return {
        "ours": encode,
        "ours, weights": recorded(encode, "*.weights"),
        "ours, every site": recorded(encode, None),
        "fast path": theirs,
        "slow path": without_fast_path(theirs),
        "nn.MultiheadAttention": with_torch_weights(theirs),
        "x-transformers": with_x_weights(d_model, heads, layers),
    }


def check_agreement(contenders: dict[str, Encode | WithWeights], x: Tensor) -> None:
    """Check that all do the same work: outputs and weights agree. For x-transformers, only shapes can be checked."""
    expected = contenders["ours"](x)
    with recording("*.weights") as trace:
        contenders["ours"](x)
    for name, run in contenders.items():
        got = run(x)
        output, weights = got if isinstance(got, tuple) else (got, None)
        assert output.shape == x.shape, name
        if name != "x-transformers":
            torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4, msg=name)
        if weights is not None:
            assert [w.shape for w in weights] == [w.shape for w in trace.values()], name
            sums = torch.stack([w.sum(-1) for w in weights])
            torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-4, rtol=0, msg=name)
        if name == "nn.MultiheadAttention":
            torch.testing.assert_close(weights, list(trace.values()), atol=1e-5, rtol=1e-4, msg=name)
