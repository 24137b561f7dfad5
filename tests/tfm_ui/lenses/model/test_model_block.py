"""The view "block": its steps are torch's own modules', its derivations end at the numbers of the pass."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import ACTIVATIONS, ARCHITECTURES, ATTENTION, NORMS, POSITIONAL, Transformer
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_ui.lenses.model.block.both import Lengths, both
from tfm_ui.lenses.model.block.cell import Cell
from tfm_ui.lenses.model.block.chain import dropout_factors, layer_norm
from tfm_ui.lenses.model.block.chosen import chain
from tfm_ui.lenses.model.block.moments import Moments
from tfm_ui.lenses.model.block.numbers import steps
from tfm_ui.lenses.model.block.panels import blocks
from tfm_ui.lenses.model.block.pictures import block_steps, both_norms, length_by_token, moments
from tfm_ui.lenses.model.block.questions import QUESTIONS
from tfm_ui.lenses.model.state import DROPOUTS, SUB_LAYERS, ModelLensState
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(),
    ModelState(norm="post", text="a b c", seq_len=6, causal=False, activation="relu"),
    ModelState(architecture="decoder", text="hi", seq_len=2, positional="rope", activation="swiglu"),
    ModelState(architecture="encoder-decoder", norm="post", positional="t5", target="ja"),
    ModelState(text="", seq_len=3, norm="post", positional="none"),
]
STATES = [ModelLensState(stack="decoder", sub_layer=name, layer=2, token=2, block_dim=7) for name in SUB_LAYERS]
EVERY = [(model, state) for model in MODELS for state in STATES]
any_model = st.builds(
    ModelState,
    text=st.sampled_from(["", "a", "to be or not to be"]),
    seq_len=st.sampled_from([0, 8]),
    d_model=st.sampled_from([32, 96]),
    num_layers=st.just(2),
    norm=st.sampled_from(NORMS),
    architecture=st.sampled_from(ARCHITECTURES),
    activation=st.sampled_from(tuple(ACTIVATIONS)),
    positional=st.sampled_from(tuple(POSITIONAL)),
    seed=st.integers(0, 2),
)
any_state = st.builds(
    ModelLensState,
    attention=st.sampled_from(tuple(ATTENTION)),
    stack=st.sampled_from(["encoder", "decoder"]),
    sub_layer=st.sampled_from(SUB_LAYERS),
    layer=st.integers(1, 2),
    token=st.integers(1, 8),
    block_dim=st.integers(1, 96),
    dropout=st.sampled_from(DROPOUTS),
    dropout_draw=st.integers(1, 9),
)


# against what we have not written


@pytest.mark.parametrize("norm", NORMS)
def test_the_blocks_of_a_layer_are_those_of_torchs_encoder_layer(norm):
    model = ModelState(norm=norm, causal=False, activation="relu")
    ours = Transformer(model.config).eval().stack
    theirs = as_torch_encoder(list(ours.layers), ours.final_norm)
    looks, thinks = (chain(model, ModelLensState(layer=2, sub_layer=name)) for name in SUB_LAYERS[::2])
    with torch.no_grad():
        layer = theirs.layers[1]
        torch.testing.assert_close(layer(looks.x[None])[0], thinks.out, atol=2e-6, rtol=1e-5)
        read = looks.norm.result if norm == "pre" else looks.x
        attended, _ = layer.self_attn(*(read[None],) * 3)
        torch.testing.assert_close(attended[0], looks.output, atol=2e-6, rtol=1e-5)
    torch.testing.assert_close(looks.out, thinks.x)


@given(st.integers(1, 9), st.integers(1, 40), st.floats(-3, 3), st.floats(0.001, 100), st.integers(0, 99))
def test_a_norm_is_torchs_whatever_its_gain_and_shift(tokens, width, middle, size, seed):
    torch.manual_seed(seed)
    x = (torch.randn(tokens, width, dtype=torch.float64) + middle) * size
    gain, shift = torch.randn(2, width, dtype=torch.float64)
    ours = layer_norm(x, gain, shift, 1e-5)
    torch.testing.assert_close(ours.result, F.layer_norm(x, (width,), gain, shift, 1e-5))
    np.testing.assert_allclose(ours.variance[:, 0], x.numpy().var(-1), rtol=1e-9, atol=1e-12 * size**2)
    normalised = ours.normalised.numpy()
    np.testing.assert_allclose(normalised.mean(-1), 0, atol=1e-9)
    expected = ours.variance / (ours.variance + 1e-5)
    np.testing.assert_allclose(normalised.var(-1), expected[:, 0], rtol=1e-9, atol=1e-12)


@given(st.integers(1, 20), st.integers(1, 96), st.sampled_from(DROPOUTS[1:]), st.integers(1, 9999))
def test_dropout_is_torchs_draw_and_leaves_torchs_generator_alone(tokens, width, share, draw):
    x = torch.randn(tokens, width)
    before = torch.random.get_rng_state()
    ours = x * dropout_factors(x, share, draw)
    assert torch.equal(before, torch.random.get_rng_state())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw)
        assert torch.equal(torch.nn.Dropout(share)(x), ours)


def test_the_mean_over_draws_is_the_number_itself():
    x = torch.randn(32)
    mean = (x * dropout_factors(x.expand(20_000, -1), 0.3, 5)).mean(0)
    torch.testing.assert_close(mean, x, atol=0.05, rtol=0)


# any block of any model


@given(any_model, any_state)
def test_all_of_any_block_is_said_and_its_laws_hold(model, state):
    panels = panels_in(blocks(model, state))
    assert [panel.key for panel in panels] == [
        "model_block",
        "model_block_cell",
        "model_block_both",
        "model_block_moments",
        "model_block_lengths",
    ]
    for panel in panels:
        assert "nan" not in panel.sentence().lower()
        assert all(panel.laws().values()), panel.laws()
        assert np.isfinite(panel.table().select_dtypes("number").to_numpy()).all()
    for content in (block_steps, both_norms, moments, length_by_token):
        content(model, state)
    for question in QUESTIONS:
        assert "nan" not in question.answer(model, state).lower()


@pytest.mark.parametrize(("model", "state"), EVERY)
def test_the_scripts_give_the_numbers_shown(model, state):
    shown, scope = steps(model, replace(state, dropout=0.3)), {}
    exec(shown.recipe(), scope)
    numbers = shown.chain
    for name, ours in {
        "x": numbers.x,
        "output": numbers.output,
        "dropped": numbers.dropped,
        "total": numbers.total,
        "mean": numbers.norm.mean,
        "variance": numbers.norm.variance,
        "normalised": numbers.norm.normalised,
        "normed": numbers.norm.result,
    }.items():
        torch.testing.assert_close(scope[name], ours, atol=1e-5, rtol=1e-5)
    of_tokens = Moments(shown)
    exec(of_tokens.recipe(), scope)
    np.testing.assert_allclose(scope["before"][: shown.read, 1], of_tokens.columns["variance before the norm"], 1e-4)
    np.testing.assert_allclose(scope["after"][: shown.read, 1], of_tokens.columns["variance after the norm"], 1e-4)
    cell = Cell(shown)
    exec(cell.recipe(), scope)
    torch.testing.assert_close(scope["products"], cell.products, atol=1e-6, rtol=1e-5)
    values = {step.name: step.value for step in cell.lines}
    assert scope["total"].item() == pytest.approx(values["sum"], abs=1e-5)
    assert scope["written"].item() == pytest.approx(values["sub-layer"], abs=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_the_script_of_both_norms_gives_the_numbers_shown(model):
    shown, scope = both(steps(model, STATES[0])), {}
    exec(shown.recipe(), scope)
    for norm in NORMS:
        torch.testing.assert_close(scope["out"][norm], shown.chains[norm].out, atol=1e-5, rtol=1e-5)
        lengths = scope["x"][norm][: shown.block.read].norm(dim=-1)
        np.testing.assert_allclose(lengths, shown.lengths[norm][0], rtol=1e-5)
    assert Lengths(shown).recipe() == shown.recipe()


# one number


@given(st.sampled_from(MODELS), st.sampled_from(STATES), st.integers(1, 10), st.integers(1, 32), st.booleans())
def test_each_derivation_ends_at_the_number_of_the_pass(model, state, token, dim, drops):
    state = replace(state, token=token, block_dim=dim, dropout=0.5 if drops else 0.0)
    cell = Cell(steps(model, state))
    at = cell.block.token, cell.block.dim
    numbers, values = cell.block.chain, {step.name: step.value for step in cell.lines}
    for name, table in {
        "x": numbers.x,
        "norm": numbers.norm.normalised,
        "gain, shift": numbers.norm.result,
        "sub-layer": numbers.output,
        "dropout": numbers.dropped,
        "sum": numbers.total,
    }.items():
        assert values[name] == pytest.approx(table[at].item(), abs=2e-5), name
    assert values["mean"] == pytest.approx(numbers.norm.mean[at[0], 0].item(), abs=1e-5)
    assert list(values)[-1] == ("sum" if model.norm == "pre" else "gain, shift")
    assert values[list(values)[-1]] == pytest.approx(numbers.out[at].item(), abs=2e-5)


def test_what_is_written_in_a_derivation_are_its_numbers():
    cell = Cell(steps(ModelState(), ModelLensState(block_dim=5)))
    lines = {step.name: step for step in cell.lines}
    x = cell.block.chain.x[1]
    assert lines["mean"].line == f"Σ x / 32 = {x.sum():.3f} / 32 = {x.mean():.3f}".replace("-", "−")
    assert f"√({x.var(correction=0):.3f} + 1×10⁻⁵)" in lines["norm"].line
    largest = cell.products.abs().argmax()
    weight, read = cell.block.chain.weight[4, largest].item(), cell.block.chain.inner[1, largest].item()
    assert f"{abs(weight):.3f}" in lines["sub-layer"].line
    assert f"{abs(read):.3f}" in lines["sub-layer"].line
    assert "29 smaller products" in lines["sub-layer"].line
