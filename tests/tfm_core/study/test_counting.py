"""Counts by block: against the real modules, torch's own encoder layer, transformers' GPT-2, and published numbers."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tfm_core import ACTIVATIONS, ARCHITECTURES, NORMS, POSITIONAL, Transformer, TransformerConfig
from tfm_core.study.counting import block_parameters

ENDS = ("embedding", "unembedding")
ENCODER = TransformerConfig(
    vocab_size=1000, d_model=128, num_heads=8, num_layers=6, norm="post", tie_embeddings=True
)  # d_ff is 4 d_model in all of these, and max_len 1,024
GPT = replace(ENCODER, vocab_size=50_000, architecture="decoder", d_model=256, num_layers=4, norm="pre")


@st.composite
def configurations(draw: st.DrawFn) -> TransformerConfig:
    """Any small transformer."""
    heads = draw(st.sampled_from((1, 2, 4)))
    return TransformerConfig(
        vocab_size=draw(st.integers(1, 40)),
        architecture=draw(st.sampled_from(ARCHITECTURES)),
        d_model=heads * 2 * draw(st.integers(1, 4)),
        num_heads=heads,
        num_layers=draw(st.integers(1, 3)),
        d_ff=draw(st.integers(0, 20)),
        max_len=draw(st.integers(1, 20)),
        positional=draw(st.sampled_from(list(POSITIONAL))),
        norm=draw(st.sampled_from(NORMS)),
        activation=draw(st.sampled_from(list(ACTIVATIONS))),
        tie_embeddings=draw(st.booleans()),
    )


@given(configurations())
def test_the_blocks_sum_to_the_real_model(config: TransformerConfig) -> None:
    counts, model = block_parameters(config), Transformer(config)
    assert sum(counts.values()) == sum(parameter.numel() for parameter in model.parameters())
    modules = dict((model if config.architecture == "encoder-decoder" else model.stack).named_modules())
    modules["unembedding"] = model.unembedding
    for name, count in counts.items():
        assert count == sum(parameter.numel() for parameter in modules[name].parameters())


def without_ends(counts: dict[str, int]) -> int:
    """The count without embeddings and output."""
    return sum(count for name, count in counts.items() if not name.endswith(ENDS))


def test_the_base_model_of_the_paper() -> None:
    """Vaswani et al. 2017, table 3: 6 + 6 layers, post-norm; torch's own has a norm more at the end of each stack."""
    config = TransformerConfig(
        vocab_size=1, architecture="encoder-decoder", d_model=512, num_heads=8, num_layers=6, d_ff=2048, norm="post"
    )
    assert without_ends(block_parameters(config)) == 44_138_496
    torchs = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True, device="meta")
    final_norms = 2 * 2 * 512
    assert sum(parameter.numel() for parameter in torchs.parameters()) - final_norms == 44_138_496


def test_one_layer_is_as_large_as_torchs() -> None:
    config = replace(ENCODER, num_layers=1)
    torchs = nn.TransformerEncoderLayer(128, 8, 512, device="meta")
    assert without_ends(block_parameters(config)) == sum(p.numel() for p in torchs.parameters()) == 198_272


def test_gpt_2_small_is_as_large_as_that_of_transformers() -> None:
    import transformers  # here, as it takes seconds

    config = replace(GPT, vocab_size=50_257, d_model=768, num_heads=12, num_layers=12, positional="learned")
    with torch.device("meta"):
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    assert sum(block_parameters(config).values()) == theirs.num_parameters() == 124_439_808


@pytest.mark.parametrize(("config", "expected"), [(ENCODER, 1_317_632), (GPT, 15_959_552)], ids=["encoder", "GPT"])
def test_models_of_the_documents(config: TransformerConfig, expected: int) -> None:
    assert sum(block_parameters(config).values()) == expected
