"""All targets map (batch, seq, d_model) to the same; those of one arithmetic agree; parameters are as many as said."""

import pickle
from dataclasses import replace

import pytest
import torch

from tests.tfm_core.profiling.kinds import OTHERS
from tests.tfm_core.toys import largest_error
from tfm_core.masks.patterns import strided_mask, window_mask
from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Setup, Size
from tfm_core.profiling.closed_forms_transformer import Transformer
from tfm_core.profiling.setup import DTYPES
from tfm_core.profiling.targets import STRIDE, WINDOW

SMALL = Size(d_model=12, num_heads=4, num_layers=2, seq_len=9, batch=2, d_ff=20)
ODD = Size(d_model=6, num_heads=1, num_layers=1, seq_len=1, batch=1, d_ff=5)
LONG = Size(d_model=8, num_heads=2, num_layers=2, seq_len=3 * WINDOW, batch=2)
HERE = [name for name, target in TARGETS.items() if not target.refuses(Setup())]
NUMBERS = {"d_model": 16, "num_heads": 4, "num_layers": 2, "seq_len": 9, "batch": 2, "d_ff": 20}


def random_input(size):
    return torch.randn(size.batch, size.seq_len, size.d_model)


@pytest.mark.parametrize(
    ("target", "mask"),
    [
        ("window", window_mask(LONG.seq_len, window=WINDOW)),
        ("strided", strided_mask(LONG.seq_len, stride=STRIDE)),
    ],
)
def test_masks_hide_what_they_should(target, mask):
    module, x = TARGETS[target].build(LONG).eval(), random_input(LONG)
    assert not mask.all()
    with torch.inference_mode():
        expected = x
        for layer in module.transformer.stack.layers:
            expected = layer(expected, mask)
        assert largest_error(module(x), module.transformer.stack.final_norm(expected)) < 1e-5
        assert largest_error(module(x), TARGETS["fused"].build(LONG).eval()(x)) > 1e-3
    assert module.to("meta").mask.is_meta  # it goes where the weights go


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("size", [SMALL, ODD])
def test_shape_gradient_and_seed(target, size):
    module, x = TARGETS[target].build(size, seed=3), random_input(size)
    before = torch.get_rng_state()
    again, other = TARGETS[target].build(size, seed=3), TARGETS[target].build(size, seed=4)
    assert torch.equal(before, torch.get_rng_state())
    y = module(x)
    assert y.shape == x.shape
    y.sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())
    with torch.no_grad():
        assert torch.equal(again.eval()(x), module.eval()(x))
        assert not torch.equal(other.eval()(x), module.eval()(x))
        assert 0.01 < y.abs().mean() < 10


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("size", DEFAULT_SIZES)
def test_what_is_compared_has_as_many_parameters(target, size):
    """Nearest possible: one unit more or less would be further off."""
    forms, wanted = TARGETS[target].forms, sum(Transformer().parameters(size).values())
    width = forms.width(size)
    off = {near: abs(sum(forms.of_width(size, near).values()) - wanted) for near in (width - 1, width, width + 1)}
    assert min(off, key=off.get) == width
    assert off[width] < 0.02 * wanted


@pytest.mark.parametrize("target", HERE)
def test_half_precision_runs(target):
    module = TARGETS[target].build(SMALL).to(torch.bfloat16).eval()
    with torch.inference_mode():
        assert module(random_input(SMALL).bfloat16()).isfinite().all()


def test_refusals_are_sentences_and_what_is_not_refused_here_runs_here():
    refused = {name: TARGETS[name].refuses(Setup()) for name in TARGETS}
    assert {name for name, why in refused.items() if why} == {"fused efficient", "fused cudnn"}
    assert all(why.endswith(".") for why in refused.values() if why)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_of_half_precision_refuse_more_on_cuda(dtype, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    setup = Setup(device="cuda", dtype=dtype)
    half = dtype in ("bfloat16", "float16")
    for name in ("fused flash", "fused cudnn"):
        assert bool(TARGETS[name].refuses(setup)) == (not half)
    assert bool(TARGETS["fused efficient"].refuses(setup)) == (dtype == "float64")


@pytest.mark.parametrize(("device", "why"), [("cpu", ""), ("cuda", "takes no biases, which alibi adds")])
def test_flash_attention_takes_no_bias_on_cuda(device, why, monkeypatch):
    """torch says there only that no kernel is available."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    setup, flash = Setup(device=device, dtype="bfloat16"), TARGETS["fused flash"]
    assert why in flash.cannot(replace(SMALL, positional="alibi"), setup)
    assert not flash.cannot(replace(SMALL, positional="alibi"), Setup())
    assert not flash.cannot(replace(SMALL, positional="sinusoidal"), setup)


def test_names_stand_in_links_and_tables():
    assert all(len(name) < 32 and not set(name) & set(",;|\n") for name in TARGETS)
    assert all(target.about.endswith(".") and target.source for target in TARGETS.values())
    assert pickle.loads(pickle.dumps(SMALL)) == SMALL


def test_a_kind_in_words():
    assert Size(**NUMBERS).in_words() == "encoder, pre-norm, gelu, no positions; without embedding and output"
    size = Size(**NUMBERS, causal=True, positional="rope", norm="post", activation="swiglu", vocab_size=1000)
    assert size.in_words() == (
        "encoder, causal, post-norm, swiglu, rope positions; with embedding and output, one matrix for 1,000 token ids"
    )
    assert Size(**NUMBERS, vocab_size=9, ends="embedding").in_words() == (
        "encoder, pre-norm, gelu, no positions; with embedding, without output, a matrix for 9 token ids"
    )
    last = Size(**NUMBERS, vocab_size=9, ends="output").in_words()
    assert last.endswith("with output, without embedding, a matrix for 9 token ids")
