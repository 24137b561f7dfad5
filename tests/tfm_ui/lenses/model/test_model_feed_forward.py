"""The view "feed_forward": curves, hidden units, sizes and a single unit, for any model."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tfm_core import ARCHITECTURES, ATTENTION, NORMS, Transformer, causal_mask, recording
from tfm_ui.lenses.model.feed_forward.activations import Activations, FfnSizes, two_thirds
from tfm_ui.lenses.model.feed_forward.hidden import READ, Hidden, OneUnit, recorded
from tfm_ui.lenses.model.machine import inputs_of
from tfm_ui.lenses.model.state import FFN_SIZES, ModelLensState
from tfm_ui.state.model_state import ModelState


def test_derivatives_are_those_of_the_formulas():
    """GELU' = Φ(x) + x φ(x); SiLU' = σ(x) (1 + x (1 - σ(x))); ReLU' = 1 above 0."""
    panel = Activations(ModelState(), ModelLensState())
    x = panel.x
    normal = torch.distributions.Normal(0.0, 1.0)
    formulas = {
        "relu": (x > 0).double(),
        "gelu": normal.cdf(x) + x * normal.log_prob(x).exp(),
        "silu": x.sigmoid() * (1 + x * (1 - x.sigmoid())),
    }
    for name, slopes in formulas.items():
        assert torch.allclose(panel.slopes[name], slopes, atol=1e-6), name


def test_published_counts():
    """The counts of 512 / 2,048: two matrices with biases, SwiGLU with and without, and at two thirds of the width."""
    panel = FfnSizes(ModelState(), ModelLensState(ffn_size=FFN_SIZES[1]))
    assert panel.count("relu", 2048)[0] == 2_099_712
    assert panel.count("swiglu", 2048) == (3_150_336, 3_145_728)
    assert two_thirds(2048) == 1365
    assert panel.count("swiglu", 1365)[1] == 2_096_640


@given(st.integers(1, 64), st.integers(2, 64))
def test_counts_are_those_of_torchs_own_modules(d_model, d_ff):
    panel = FfnSizes(ModelState(d_model=d_model, num_heads=1, d_ff=d_ff), ModelLensState())
    layer = nn.TransformerEncoderLayer(d_model, 1, d_ff)
    count = sum(p.numel() for linear in (layer.linear1, layer.linear2) for p in linear.parameters())
    assert panel.count("relu", d_ff)[0] == count


@pytest.mark.parametrize("norm", NORMS)
def test_relus_hidden_units_are_those_of_a_layer_of_torch(norm):
    model = ModelState(activation="relu", norm=norm, causal=True)
    panel = Hidden(model, ModelLensState())
    reads = "layers.0.feed_forward." + ("normed" if norm == "pre" else "residual_before")
    transformer = Transformer(model.config).eval()
    with torch.no_grad(), recording(reads) as trace:
        transformer(model.source_tokens.batch, mask=causal_mask(10))
        linear = transformer.stack.layers[0].feed_forward.input_projection
        expected = F.relu(F.linear(trace[reads][0], linear.weight, linear.bias))
    assert torch.allclose(panel.units["relu"], expected, atol=1e-6)
    assert panel.zeros("relu") == pytest.approx(float((expected == 0).double().mean()))


@pytest.mark.crossed(architecture=ARCHITECTURES, attention=list(ATTENTION), causal=[True, False], norm=NORMS)
def test_of_long_texts_the_first_tokens_are_those_of_the_whole_text(architecture, attention, causal, norm):
    words = " ".join(f"w{i % 9}" for i in range(READ + 30))
    model = ModelState(
        text=words, target=words[::-1], seq_len=READ + 30, architecture=architecture, causal=causal, norm=norm
    )
    config = replace(model.config, attention=attention)
    inputs, mask = inputs_of(model)
    with torch.no_grad(), recording("*.feed_forward.hidden") as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    kept = recorded(model, config, "decoder")
    assert len(trace) == (4 if model.is_encoder_decoder else 2)
    for site, values in trace.items():
        torch.testing.assert_close(kept[site], values[0, :READ], rtol=1e-4, atol=1e-5)
    if model.is_encoder_decoder:
        alone = recorded(model, config, "encoder")
        assert alone
        assert all(torch.equal(values, kept[site]) for site, values in alone.items())
        assert not any(site.startswith("decoder") for site in alone)


def test_what_questions_take_for_granted():
    """Half of ReLU's units, about, are 0, and both smooth derivatives go below 0 and above 1."""
    panel = Hidden(ModelState(), ModelLensState())
    assert 0.3 < panel.zeros("relu") < 0.7
    slopes = Activations(ModelState(), ModelLensState()).slopes
    assert all(slopes[name].min() < 0 and slopes[name].max() > 1 for name in ("gelu", "silu"))


def test_a_unit_that_never_fires_writes_nothing():
    panel = OneUnit(ModelState(activation="relu"), ModelLensState(unit=5))
    assert not panel.fires.any()
    assert "fires at none of them and writes nothing" in panel.sentence()


def test_padding_is_no_token_of_the_text():
    panel = Hidden(ModelState(text="a b", seq_len=8), ModelLensState())
    assert panel.names == ["a", "b"]
    assert {len(units) for name in panel.units for units in (panel.units[name], panel.read_under(name))} == {2}
