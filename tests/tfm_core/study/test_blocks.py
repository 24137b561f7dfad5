"""Blocks: what a pass really records at each, the parameters of the modules, operations as torch counts them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tfm_core import ACTIVATIONS, ARCHITECTURES, ATTENTION, NORMS, POSITIONAL, Transformer, TransformerConfig, recording
from tfm_core.study.blocks import block_costs, stack_blocks
from tfm_core.study.counting import block_parameters


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
def test_blocks_have_the_parameters_of_their_modules_and_sum_to_the_real_model(config: TransformerConfig) -> None:
    counts, model = block_parameters(config), Transformer(config)
    blocks = [block for stack in stack_blocks(config).values() for block in stack]
    whole = sum(parameter.numel() for parameter in model.parameters())
    assert sum(counts.values()) == sum(block.parameters for block in blocks) == whole
    assert len({block.name for block in blocks}) == len(blocks)
    modules = dict((model if config.architecture == "encoder-decoder" else model.stack).named_modules())
    modules["unembedding"] = model.unembedding
    for name, count in counts.items():
        assert count == sum(parameter.numel() for parameter in modules[name].parameters())


def test_gpt_2_small_is_as_large_as_that_of_transformers() -> None:
    import transformers  # here, as it takes seconds

    sizes = {"vocab_size": 50_257, "d_model": 768, "num_heads": 12, "num_layers": 12}
    config = TransformerConfig(**sizes, architecture="decoder", positional="learned", tie_embeddings=True)
    with torch.device("meta"):
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    assert sum(block_parameters(config).values()) == theirs.num_parameters()


def pass_of(model: Transformer) -> tuple[torch.Tensor, ...]:
    """Token ids that suit the model: 5 of the encoder, in an encoder-decoder 3 of the decoder."""
    lengths = (5, 3) if model.config.architecture == "encoder-decoder" else (5,)
    return tuple(torch.arange(1, 1 + length)[None] for length in lengths)


@given(configurations())
def test_what_flows_in_gives_what_flows_out(config: TransformerConfig) -> None:
    """Each norm, network and sum, applied to what it is said to read, gives what it is said to write."""
    if config.vocab_size < 7 or config.max_len < 6:
        return
    model = Transformer(config).eval()
    root = model if config.architecture == "encoder-decoder" else model.stack
    with torch.no_grad(), recording("*") as trace:
        model(*pass_of(model))
        for block in (block for stack in stack_blocks(config).values() for block in stack):
            written = torch.stack([trace[site] for site in block.writes]).sum(0)
            if not block.reads:
                continue
            read = torch.stack([trace[site] for site in block.reads]).sum(0)
            if block.kind in ("norm", "feed_forward"):
                torch.testing.assert_close(root.get_submodule(block.name)(read), written)
            elif block.kind == "logits":
                torch.testing.assert_close(model.unembedding(read), written)
            elif block.kind == "sum":
                torch.testing.assert_close(read, written)


@pytest.mark.parametrize(
    "changes",
    [
        *[{"architecture": name, "activation": gate} for name in ARCHITECTURES for gate in ("relu", "swiglu")],
        *[{"attention": name} for name in ATTENTION if name != "fused"],  # torch does not count a CPU's fused kernel
    ],
    ids=str,
)
def test_multiply_adds_are_half_of_what_torch_counts(changes: dict[str, str]) -> None:
    """FlopCounterMode counts a multiplication and an addition for each."""
    config = TransformerConfig(vocab_size=11, d_ff=24, **changes)
    model = Transformer(config).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*pass_of(model))
    lengths = {"encoder": 5, "decoder": 3 if config.architecture == "encoder-decoder" else 5}
    times = [
        term.value
        for stack, blocks in stack_blocks(config).items()
        for block in blocks
        for term in block_costs(block, config, lengths[stack], 5).time
    ]
    assert 2 * sum(times) == counter.get_total_flops()


def test_space_is_what_attention_records() -> None:
    config = TransformerConfig(vocab_size=11)
    model = Transformer(config).eval()
    with torch.no_grad(), recording("layers.0.*") as trace:
        model(*pass_of(model))
    blocks = {block.name: block for block in stack_blocks(config)["encoder"]}
    written = {
        "self_attention": ("query", "key", "value", "scores", "head_output", "output"),
        "feed_forward": ("hidden", "output"),
    }
    for name, sites in written.items():
        numbers = sum(trace[f"layers.0.{name}.{site}"].numel() for site in sites)
        assert numbers == sum(term.value for term in block_costs(blocks[f"layers.0.{name}"], config, 5).space)


def test_what_each_attention_writes() -> None:
    """Full: h n² scores; linear: h times dₖ × dₖ sums and dₖ of the normaliser; fused: neither."""
    for attention, beside in {"full": 4 * 25, "window": 4 * 25, "linear": 4 * (8 * 8 + 8), "fused": 0}.items():
        config = TransformerConfig(vocab_size=11, attention=attention)
        block = next(block for block in stack_blocks(config)["encoder"] if block.kind == "self_attention")
        assert sum(term.value for term in block_costs(block, config, 5).space) == beside + 5 * 5 * 32
