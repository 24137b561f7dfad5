"""The view "block": its steps are torch's own modules', its derivations end at the numbers of the pass; what it says
and draws; and what its questions take for granted.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.pictures.charts import traces
from tests.tfm_ui.pictures.scale_checks import floats
from tfm_core import NORMS, Transformer
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_ui.lenses.model.block import VIEW, chain
from tfm_ui.lenses.model.block import questions as answers
from tfm_ui.lenses.model.block.both import BlockBoth, BlockLengths
from tfm_ui.lenses.model.block.cell import BlockCell
from tfm_ui.lenses.model.block.chain import Normed, dropout_factors, layer_norm
from tfm_ui.lenses.model.block.steps import Block, BlockMoments
from tfm_ui.lenses.model.state import DROPOUTS, SUB_LAYERS, ModelLensState
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState

POST = ModelState(norm="post", text="a b c", seq_len=6, causal=False, activation="relu")
BOTH = ModelState(architecture="encoder-decoder", norm="post", positional="t5", target="ja")
MODELS = [
    ModelState(),
    POST,
    ModelState(architecture="decoder", text="hi", seq_len=2, positional="rope", activation="swiglu"),
    BOTH,
    ModelState(text="", seq_len=3, norm="post", positional="none"),
]
STATES = [ModelLensState(stack="decoder", sub_layer=name, layer=2, token=2, block_dim=7) for name in SUB_LAYERS]


def train(model: ModelState, monkeypatch, *, gain: float, shift: float) -> None:
    """Let the model be as if a training had moved the gain and the shift of its norms."""
    moved = Transformer(model.config).eval()
    with torch.no_grad():
        for name, parameter in moved.named_parameters():
            if "_norm." in name:
                parameter.add_(torch.linspace(0, gain if name.endswith("weight") else shift, len(parameter)))
    monkeypatch.setattr(chain, "transformer", lambda config: moved)
    monkeypatch.setattr("tfm_ui.lenses.model.machine.transformer", lambda config: moved)
    monkeypatch.setattr(chain, "read", chain.read.__wrapped__)


# against what we have not written


@pytest.mark.parametrize("norm", NORMS)
def test_the_blocks_of_a_layer_are_those_of_torchs_encoder_layer(norm):
    model = ModelState(norm=norm, causal=False, activation="relu")
    ours = Transformer(model.config).eval().stack
    theirs = as_torch_encoder(list(ours.layers), ours.final_norm)
    looks, thinks = (Block(model, ModelLensState(layer=2, sub_layer=name)) for name in SUB_LAYERS[::2])
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
    norm = torch.nn.LayerNorm(width, 1e-5, dtype=torch.float64)
    for parameter in norm.parameters():
        torch.nn.init.normal_(parameter)
    ours = Normed(*layer_norm(x, norm))
    torch.testing.assert_close(ours.result, F.layer_norm(x, (width,), norm.weight.detach(), norm.bias.detach(), 1e-5))
    np.testing.assert_allclose(ours.spread[:, 0], x.numpy().var(-1), rtol=1e-9, atol=1e-12 * size**2)
    normalised = ours.normalised.numpy()
    np.testing.assert_allclose(normalised.mean(-1), 0, atol=1e-9)
    expected = ours.spread / (ours.spread + 1e-5)
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


# one number


@given(st.sampled_from(MODELS), st.sampled_from(STATES), st.integers(1, 10), st.integers(1, 32), st.booleans())
def test_each_derivation_ends_at_the_number_of_the_pass(model, state, token, dim, drops):
    state = replace(state, token=token, block_dim=dim, dropout=0.5 if drops else 0.0)
    cell = BlockCell(model, state)
    at, values = (cell.token, cell.dim), {step.name: step.value for step in cell.lines}
    for name, table in {
        "x": cell.x,
        "norm": cell.norm.normalised,
        "gain, shift": cell.norm.result,
        "sub-layer": cell.output,
        "dropout": cell.dropped,
        "sum": cell.total,
    }.items():
        assert values[name] == pytest.approx(table[at].item(), abs=2e-5), name
    assert values["mean"] == pytest.approx(cell.norm.mean[at[0], 0].item(), abs=1e-5)
    assert list(values)[-1] == ("sum" if model.norm == "pre" else "gain, shift")
    assert values[list(values)[-1]] == pytest.approx(cell.out[at].item(), abs=2e-5)


def test_what_is_written_in_a_derivation_are_its_numbers():
    cell = BlockCell(ModelState(), ModelLensState(block_dim=5))
    lines = {step.name: step for step in cell.lines}
    x = cell.x[1]
    assert lines["mean"].line == f"Σ x / 32 = {x.sum():.3f} / 32 = {x.mean():.3f}".replace("-", "−")
    assert f"√({x.var(correction=0):.3f} + 1×10⁻⁵)" in lines["norm"].line
    largest = cell.products.abs().argmax()
    weight, read = cell.projection.weight[4, largest].item(), cell.inner[1, largest].item()
    assert f"{abs(weight):.3f}" in lines["sub-layer"].line
    assert f"{abs(read):.3f}" in lines["sub-layer"].line
    assert "29 smaller products" in lines["sub-layer"].line


# what is said


def test_laws_that_do_not_hold_are_told():
    def laws_with(panel=Block, **wrong):
        block = panel(ModelState(), ModelLensState(dropout=0.3))
        for name, numbers in wrong.items():
            setattr(block, name, numbers)
        return list(block.laws().values())

    block = Block(ModelState(), ModelLensState(dropout=0.3))
    assert laws_with() == [True, True, True, True]
    assert laws_with(norm=block.norm._replace(result=block.norm.result + 0.01)) == [True, False, True, True]
    assert laws_with(norm=block.norm._replace(normalised=block.norm.normalised * 1.01)) == [True, True, False, True]
    assert laws_with(factors=(block.factors != 0).float()) == [True, True, True, False]
    under = BlockBoth(ModelState(), ModelLensState()).under
    under["pre"].after = under["pre"].after + 0.01
    assert laws_with(BlockBoth, under=under) == [True, False]
    assert not all(laws_with(BlockCell, output=block.output + 0.01))


@pytest.mark.parametrize("norm", NORMS)
def test_a_gain_and_a_shift_that_do_something_are_told(monkeypatch, norm):
    model, state = ModelState(norm=norm), ModelLensState(step="norm")
    train(model, monkeypatch, gain=1, shift=-0.5)
    block = Block(model, state)
    assert "The gain runs from 1.000 to 2.000, the shift from −0.500 to 0.000." in block.sentence()
    assert "changes nothing" not in block.sentence()
    assert all(block.laws().values())
    assert all(BlockCell(model, state).laws().values())


def test_the_norms_sentence_names_the_tokens_that_it_speaks_of():
    panel = Block(ModelState(), ModelLensState(step="norm"))
    variances = panel.x.numpy().var(-1)
    low, high = panel.names[variances.argmin()], panel.names[variances.argmax()]
    sentence = panel.sentence()
    assert f"run from {variances.min():.3f} (“{low}”) to {variances.max():.3f} (“{high}”)" in sentence
    assert "Gain is 1 and shift 0" in sentence


def test_equal_variances_are_told_as_ties():
    panel = Block(ModelState(text="a a a", positional="none", causal=False), ModelLensState(step="norm"))
    assert "(one of 3 that tie)" in panel.sentence()


def test_dropout_is_counted_and_the_cells_that_it_empties_are_grey():
    model, state = ModelState(), ModelLensState(step="sub-layer", dropout=0.3)
    panel = Block(model, state)
    gone = int((panel.dropped == 0).sum())
    assert f"makes {gone} of these 320 numbers 0" in panel.sentence()
    header, numbers = Block(model, state).picture()
    tables = numbers.reshape(3, 10, 32)
    assert [told["name"] for told in header["maps"]] == ["3. × gain + shift", "4. self-attention", "5. after dropout"]
    assert np.isnan(tables).sum((1, 2)).tolist() == [0, 0, gone]
    assert np.array_equal(np.isnan(tables[2]), (panel.dropped == 0).numpy())
    assert "evaluation mode dropout does nothing" in Block(model, ModelLensState(step="sub-layer")).sentence()
    assert not np.isnan(Block(model, ModelLensState()).picture()[1]).any()


def test_the_maps_are_in_the_order_in_which_they_are_computed():
    for norm, order in {"pre": [0, 1, 2, 3, 4, 5], "post": [0, 3, 4, 5, 1, 2]}.items():
        names = ["x", "(", "× gain", "self-attention", "after dropout", "sum: x"]
        drawn = [told["name"] for told in Block(ModelState(norm=norm), ModelLensState()).picture()[0]["maps"]]
        for i, (name, at) in enumerate(zip(drawn, order, strict=True), 1):
            assert name.startswith(f"{i}. {names[at]}")


@pytest.mark.parametrize("step", ["norm", "sub-layer", "sum"])
@pytest.mark.parametrize("norm", NORMS)
def test_of_each_step_three_maps_are_shown(norm, step):
    header, _ = Block(ModelState(norm=norm), ModelLensState(step=step)).picture()
    assert len(header["maps"]) == 3


def test_a_stack_without_cross_attention_shows_its_self_attention_and_says_so():
    for model, stack in ((ModelState(), "decoder"), (BOTH, "encoder")):
        state = ModelLensState(sub_layer="cross_attention", stack=stack)
        notes = [block for block in VIEW.shown(model, state) if isinstance(block, Note)]
        assert "its self-attention is shown" in notes[0].text
        assert ", self-attention" in Block(model, state).sentence()
    crossing = ModelLensState(sub_layer="cross_attention", stack="decoder")
    assert not [block for block in VIEW.shown(BOTH, crossing) if isinstance(block, Note)]


def test_a_large_table_is_pooled_and_its_chosen_cell_is_ringed():
    model = ModelState(text="@alice", seq_len=300, d_model=256)
    state = ModelLensState(step="all", token=290, block_dim=200)
    header, numbers = Block(model, state).picture()
    (down, over), rows, columns = header["part"]["block"], header["rows"]["names"], header["columns"]["names"]
    assert numbers.size == 6 * len(rows) * len(columns) <= 6 * 128 * 128
    assert header["picked"] == (289 // down, 199 // over)
    assert header["places"][0][header["picked"][0]] <= 290 < header["places"][0][header["picked"][0]] + down
    zoomed, _ = Block(model, replace(state, block_part="0,0,20,20")).picture()
    assert zoomed["picked"] is None
    assert zoomed["columns"]["names"][0] == "1"
    assert Block(ModelState(), ModelLensState()).picture()[0]["part"] is None


def test_both_norms_begin_with_the_same_x_and_post_norm_ends_at_the_root_of_d_model():
    panel = BlockBoth(ModelState(), ModelLensState())
    assert "Both read the same x here" in panel.sentence()
    np.testing.assert_allclose(panel.lengths["post"][1], 32**0.5, rtol=1e-4)
    assert "They read different x here" in BlockBoth(ModelState(), ModelLensState(layer=2)).sentence()
    header, numbers = BlockBoth(ModelState(), ModelLensState()).picture()
    pre, post, normed = floats(numbers.tobytes()).reshape(3, 10, 32)
    np.testing.assert_allclose(normed.mean(-1), 0, atol=1e-6)
    assert not np.allclose(pre, post)
    assert len({(told["low"], told["high"]) for told in header["maps"]}) == 1


def test_the_charts_show_the_tokens_of_the_text_alone():
    for panel in (BlockMoments, BlockLengths):
        drawn = traces(panel(POST, ModelLensState()).picture()[0])
        assert {len(trace.x) for trace in drawn} == {3}


# what the questions take for granted


def asked(name: str) -> tuple[ModelState, ModelLensState]:
    question = next(question for question in answers.QUESTIONS if question.name == name)
    return ModelState(**question.model), ModelLensState(**question.controls)


def test_what_norms_take_all_vectors_are_as_long_as_the_root_of_d_model():
    model, state = asked("What norms take")
    assert answers.length_of_normalised(model, state) == round(32**0.5, 2)
    assert answers.length_of_normalised(replace(model, d_model=64), state) == 8
    assert "√32 = 5.657" in answers.what_the_norm_takes(model, state)


def test_old_and_new_what_is_added_is_shorter_or_longer_than_x():
    model, state = asked("Old and new")
    for other in (model, replace(model, norm="post", seed=3)):
        panel = Block(other, state)
        share = (panel.output.norm(dim=-1) / panel.x.norm(dim=-1)).mean()
        answer = answers.how_much_is_added(other, state)
        assert ("shorter than x" if share < 1 else "longer than x") in answer


def test_training_mode_the_mean_of_many_draws_is_nearer_than_one():
    model, state = asked("Training mode")
    assert (Block(model, state).factors == 0).any()
    answer = answers.why_larger(model, state)
    one_draw, mean = (float(part.rpartition(" ")[2]) for part in answer.split("%")[:2])
    assert mean < one_draw / 5
    assert "every number stays" in answers.why_larger(model, replace(state, dropout=0.0))


def test_norm_before_or_behind_vectors_are_longer_under_pre_norm():
    model, state = asked("Norm before or after")
    lengths = BlockBoth(model, state).lengths
    assert lengths["pre"][1].min() > lengths["post"][1].max()
    assert "stay at 5.657" in answers.which_grows(model, state)


def test_the_view_says_when_a_pass_takes_long():
    assert VIEW.running(ModelState(), ModelLensState()) == ""
    assert VIEW.running(ModelState(text="@alice", seq_len=1024, num_layers=8), ModelLensState()).endswith("both norms")
