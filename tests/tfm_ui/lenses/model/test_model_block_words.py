"""What the view "block" says and draws: sentences, laws, maps, and what its questions take for granted."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.pictures.charts import traces
from tests.tfm_ui.pictures.scale_checks import floats
from tfm_core import NORMS, Transformer
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.block import questions as answers
from tfm_ui.lenses.model.block.both import both
from tfm_ui.lenses.model.block.cell import Cell
from tfm_ui.lenses.model.block.numbers import steps
from tfm_ui.lenses.model.block.panels import VIEW, blocks
from tfm_ui.lenses.model.block.pictures import block_steps, both_norms, length_by_token, moments
from tfm_ui.lenses.model.block.questions import QUESTIONS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState

POST = ModelState(norm="post", text="a b c", seq_len=6, causal=False, activation="relu")
BOTH = ModelState(architecture="encoder-decoder", norm="post", positional="t5", target="ja")


def trained(model: ModelState, state: ModelLensState, monkeypatch, *, gain: float, shift: float):
    """The same block as if a training had moved the gain and the shift of its norm."""
    from tfm_ui.lenses.model.block import chosen as chains
    from tfm_ui.lenses.model.machine import config_of

    moved = Transformer(config_of(model, state)).eval()
    with torch.no_grad():
        for name, parameter in moved.named_parameters():
            if "_norm." in name:
                parameter.add_(torch.linspace(0, gain if name.endswith("weight") else shift, len(parameter)))
    monkeypatch.setattr(chains, "transformer", lambda config: moved)
    monkeypatch.setattr("tfm_ui.lenses.model.machine.transformer", lambda config: moved)
    monkeypatch.setattr(chains, "read", chains.read.__wrapped__)
    return steps(model, state)


# what is said


def test_laws_that_do_not_hold_are_told(monkeypatch):
    shown = steps(ModelState(), ModelLensState(dropout=0.3))
    assert all(shown.laws().values())
    numbers = shown.chain
    wrong_norm = replace(numbers, norm=numbers.norm._replace(result=numbers.norm.result + 0.01))
    assert list(replace(shown, chain=wrong_norm).laws().values()) == [True, False, True, True]
    louder = replace(numbers, norm=numbers.norm._replace(normalised=numbers.norm.normalised * 1.01))
    assert list(replace(shown, chain=louder).laws().values()) == [True, True, False, True]
    unscaled = replace(numbers, factors=(numbers.factors != 0).float())
    assert list(replace(shown, chain=unscaled).laws().values()) == [True, True, True, False]
    under_both = both(shown)
    pre = under_both.chains["pre"]
    broken = replace(under_both, chains=under_both.chains | {"pre": replace(pre, after=pre.after + 0.01)})
    assert list(broken.laws().values()) == [True, False]
    cell = Cell(replace(shown, chain=replace(numbers, output=numbers.output + 0.01)))
    assert not all(cell.laws().values())


@pytest.mark.parametrize("norm", NORMS)
def test_a_gain_and_a_shift_that_do_something_are_told(monkeypatch, norm):
    shown = trained(ModelState(norm=norm), ModelLensState(step="norm"), monkeypatch, gain=1, shift=-0.5)
    assert "The gain runs from 1.000 to 2.000, the shift from −0.500 to 0.000." in shown.sentence()
    assert "changes nothing" not in shown.sentence()
    assert all(shown.laws().values())
    assert all(Cell(shown).laws().values())


def test_the_norms_sentence_names_the_tokens_that_it_speaks_of():
    shown = steps(ModelState(), ModelLensState(step="norm"))
    variances = shown.chain.x.numpy().var(-1)
    low, high = shown.names[variances.argmin()], shown.names[variances.argmax()]
    said = shown.sentence()
    assert f"run from {variances.min():.3f} (“{low}”) to {variances.max():.3f} (“{high}”)" in said
    assert "Gain is 1 and shift 0" in said


def test_equal_variances_are_told_as_ties():
    shown = steps(ModelState(text="a a a", positional="none", causal=False), ModelLensState(step="norm"))
    assert "(one of 3 that tie)" in shown.sentence()


def test_dropout_is_counted_and_the_cells_that_it_empties_are_grey():
    model, state = ModelState(), ModelLensState(step="sub-layer", dropout=0.3)
    shown = steps(model, state)
    gone = int((shown.chain.dropped == 0).sum())
    assert f"makes {gone} of these 320 numbers 0" in shown.sentence()
    header, numbers = block_steps(model, state)
    tables = numbers.reshape(3, 10, 32)
    assert [told["name"] for told in header["maps"]] == ["3. × gain + shift", "4. self-attention", "5. after dropout"]
    assert np.isnan(tables).sum((1, 2)).tolist() == [0, 0, gone]
    assert np.array_equal(np.isnan(tables[2]), (shown.chain.dropped == 0).numpy())
    assert "evaluation mode dropout does nothing" in steps(model, ModelLensState(step="sub-layer")).sentence()
    assert not np.isnan(block_steps(model, ModelLensState())[1]).any()


def test_the_maps_are_in_the_order_in_which_they_are_computed():
    for norm, order in {"pre": [0, 1, 2, 3, 4, 5], "post": [0, 3, 4, 5, 1, 2]}.items():
        names = ["x", "(", "× gain", "self-attention", "after dropout", "sum: x"]
        drawn = [told["name"] for told in block_steps(ModelState(norm=norm), ModelLensState())[0]["maps"]]
        for i, (name, at) in enumerate(zip(drawn, order, strict=True), 1):
            assert name.startswith(f"{i}. {names[at]}")


@pytest.mark.parametrize("step", ["norm", "sub-layer", "sum"])
@pytest.mark.parametrize("norm", NORMS)
def test_of_each_step_three_maps_are_shown(norm, step):
    header, _ = block_steps(ModelState(norm=norm), ModelLensState(step=step))
    assert len(header["maps"]) == 3


def test_a_stack_without_cross_attention_shows_its_self_attention_and_says_so():
    for model, stack in ((ModelState(), "decoder"), (BOTH, "encoder")):
        state = ModelLensState(sub_layer="cross_attention", stack=stack)
        notes = [block for block in blocks(model, state) if isinstance(block, Note)]
        assert "its self-attention is shown" in notes[0].text
        assert ", self-attention" in steps(model, state).sentence()
    crossing = ModelLensState(sub_layer="cross_attention", stack="decoder")
    assert not [block for block in blocks(BOTH, crossing) if isinstance(block, Note)]


def test_a_large_table_is_pooled_and_its_chosen_cell_is_ringed():
    model = ModelState(text="@alice", seq_len=300, d_model=256)
    state = ModelLensState(step="all", token=290, block_dim=200)
    header, numbers = block_steps(model, state)
    (down, over), rows, columns = header["part"]["block"], header["rows"]["names"], header["columns"]["names"]
    assert numbers.size == 6 * len(rows) * len(columns) <= 6 * 128 * 128
    assert header["picked"] == (289 // down, 199 // over)
    assert header["places"][0][header["picked"][0]] <= 290 < header["places"][0][header["picked"][0]] + down
    zoomed, _ = block_steps(model, replace(state, block_part="0,0,20,20"))
    assert zoomed["picked"] is None
    assert zoomed["columns"]["names"][0] == "1"
    assert block_steps(ModelState(), ModelLensState())[0]["part"] is None


def test_both_norms_begin_with_the_same_x_and_post_norm_ends_at_the_root_of_d_model():
    shown = both(steps(ModelState(), ModelLensState()))
    assert "Both read the same x here" in shown.sentence()
    np.testing.assert_allclose(shown.lengths["post"][1], 32**0.5, rtol=1e-4)
    assert "They read different x here" in both(steps(ModelState(), ModelLensState(layer=2))).sentence()
    header, numbers = both_norms(ModelState(), ModelLensState())
    pre, post, normed = floats(numbers.tobytes()).reshape(3, 10, 32)
    np.testing.assert_allclose(normed.mean(-1), 0, atol=1e-6)
    assert not np.allclose(pre, post)
    assert len({(told["low"], told["high"]) for told in header["maps"]}) == 1


def test_the_charts_show_the_tokens_of_the_text_alone():
    for content in (moments, length_by_token):
        drawn = traces(content(POST, ModelLensState())[0])
        assert {len(trace.x) for trace in drawn} == {3}


# what the questions take for granted


def asked(name: str) -> tuple[ModelState, ModelLensState]:
    question = next(question for question in QUESTIONS if question.name == name)
    return ModelState(**question.model), ModelLensState(**question.page)


def test_what_norms_take_all_vectors_are_as_long_as_the_root_of_d_model():
    model, state = asked("What norms take")
    assert answers.length_of_normalised(model, state) == round(32**0.5, 2)
    assert answers.length_of_normalised(replace(model, d_model=64), state) == 8
    assert "√32 = 5.657" in answers.what_the_norm_takes(model, state)


def test_old_and_new_what_is_added_is_shorter_or_longer_than_x():
    model, state = asked("Old and new")
    for other in (model, replace(model, norm="post", seed=3)):
        shown = steps(other, state).chain
        share = (shown.output.norm(dim=-1) / shown.x.norm(dim=-1)).mean()
        said = answers.how_much_is_added(other, state)
        assert ("shorter than x" if share < 1 else "longer than x") in said


def test_training_mode_the_mean_of_many_draws_is_nearer_than_one():
    model, state = asked("Training mode")
    assert (steps(model, state).chain.factors == 0).any()
    said = answers.why_larger(model, state)
    one_draw, mean = (float(part.rpartition(" ")[2]) for part in said.split("%")[:2])
    assert mean < one_draw / 5
    assert "every number stays" in answers.why_larger(model, replace(state, dropout=0.0))


def test_norm_before_or_behind_vectors_are_longer_under_pre_norm():
    model, state = asked("Norm before or after")
    lengths = both(steps(model, state)).lengths
    assert lengths["pre"][1].min() > lengths["post"][1].max()
    assert "stay at 5.657" in answers.which_grows(model, state)


def test_the_view_says_when_a_pass_takes_long_and_its_pictures_begin_with_the_lens():
    assert VIEW.running(ModelState(), ModelLensState()) == ""
    assert VIEW.running(ModelState(text="@alice", seq_len=1024, num_layers=8), ModelLensState()).endswith("both norms")
    assert {"model_block", "model_block_both", "model_block_moments", "model_block_lengths"} <= LENS.pictures.keys()
