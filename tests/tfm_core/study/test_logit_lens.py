"""The logit lens: beside models that really end after each layer."""

from dataclasses import replace

import pytest
import torch

from tfm_core import ARCHITECTURES, NORMS, Transformer, TransformerConfig, causal_mask, logit_lens

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


def config(architecture: str, norm: str) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=11, architecture=architecture, d_model=8, num_heads=2, num_layers=3, norm=norm, seed=5
    )


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_last_layer_reads_out_what_the_model_says(architecture: str, norm: str) -> None:
    model = Transformer(config(architecture, norm)).eval()
    inputs = [TOKENS, TOKENS[:, :4]] if architecture == "encoder-decoder" else [TOKENS]
    mask = causal_mask(inputs[-1].shape[1])
    shown = logit_lens(model, *inputs, mask=mask)
    with torch.no_grad():  # with gradients, another kernel computes the same attention, other than in the last digit
        logits = model(*inputs, mask=mask)
    assert list(shown) == ["embedding", "layer 1", "layer 2", "layer 3"]
    torch.testing.assert_close(shown["layer 3"], logits, rtol=0, atol=0)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_each_layer_reads_out_what_a_shorter_model_says(architecture: str, norm: str) -> None:
    """Weights are drawn by name, so the model of one layer has the first layer of the model of three."""
    whole = config(architecture, norm)
    shown = logit_lens(Transformer(whole).eval(), TOKENS)
    for layers in (1, 2):
        shorter = Transformer(replace(whole, num_layers=layers)).eval()
        with torch.no_grad():
            logits = shorter(TOKENS)
        torch.testing.assert_close(shown[f"layer {layers}"], logits, rtol=0, atol=0)
    assert not torch.equal(shown["layer 1"], shown["layer 2"])
