"""Operations of a step in closed form, beside torch's own counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tfm_core import Transformer, TransformerConfig, recording
from tfm_core.generation.costs import pass_flops, step_flops
from tfm_core.model.cache import KeyValueCache

CONFIGS = [
    TransformerConfig(vocab_size=37, architecture="decoder", d_model=24, num_heads=3, num_layers=2),
    TransformerConfig(
        vocab_size=50, architecture="decoder", d_model=32, num_heads=4, num_layers=3, d_ff=40, activation="swiglu"
    ),
    TransformerConfig(
        vocab_size=29,
        architecture="decoder",
        d_model=16,
        num_heads=2,
        norm="post",
        positional="rope",
        tie_embeddings=True,
    ),
]


def counted(config, new, stored):
    """What torch counts of a pass; weights are recorded, as it does not count fused kernels on the processor."""
    model, cache = Transformer(config).eval(), KeyValueCache(config)
    ids = torch.arange(1, 1 + stored + new)[None] % config.vocab_size + 1
    ids = ids.clamp(max=config.vocab_size - 1)
    with torch.no_grad():
        if stored:
            model(ids[:, :stored], cache=cache)
        with recording("*.weights"), FlopCounterMode(display=False) as counter:
            model(ids[:, stored:], cache=cache)
    return counter.get_total_flops()


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(("new", "stored"), [(1, 0), (7, 0), (5, 9), (2, 11)])
def test_a_pass_has_the_operations_that_torch_counts(config, new, stored):
    assert pass_flops(config, new, stored) == counted(config, new, stored)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_step_reads_one_token_or_all_of_them(config):
    assert step_flops(config, 12, cached=True) == pass_flops(config, 1, 11)
    assert step_flops(config, 12, cached=False) == pass_flops(config, 12)
    assert step_flops(config, 1, cached=True) == step_flops(config, 1, cached=False)


@pytest.mark.parametrize("changes", [{"architecture": "encoder"}, {"architecture": "decoder", "attention": "linear"}])
def test_other_models_are_refused(changes):
    with pytest.raises(ValueError, match="expected a decoder with full attention"):
        pass_flops(TransformerConfig(vocab_size=9, **changes), 3)
