"""Questions of the Attention lens: what they take for granted."""

from dataclasses import replace

import numpy as np
import pytest
from tfm_ui.lenses.attention.arcs.numbers import arcs
from tfm_ui.lenses.attention.change.results import changed
from tfm_ui.lenses.attention.contribution.numbers import contribution
from tfm_ui.lenses.attention.dictionary.numbers import look_up
from tfm_ui.lenses.attention.scale.numbers import effect_of_scaling
from tfm_ui.lenses.attention.steps.numbers import head_steps

from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState


def states(name):
    question = next(question for question in QUESTIONS if question.name == name)
    return ModelState(**question.model), AttentionState(**question.page)


def test_your_own_heads_are_as_wide_as_the_widest_draw():
    model, state = states("Your own heads")
    measured = effect_of_scaling(model, state).measured
    at = measured.widths.index(model.config.head_dim)
    assert measured.widths[at] == 256
    assert measured.median_gradient["unscaled"][at] < measured.median_gradient["scaled"][at] / 20
    assert measured.median_gradient["unscaled"][0] == measured.median_gradient["scaled"][0]


def test_longer_keys_win_though_the_query_lies_on_another():
    answered = look_up(states("Longer keys win")[1])
    assert answered.keys[0].tolist() == list(answered.query)
    assert answered.weights.argmax() == 1
    assert "Key A lies nearer, but a dot product asks for direction and length." in answered.sentence()


def test_looks_here_takes_there_was_looks_at_it_and_takes_from_itself():
    whole, chosen = contribution(*states("Looks here, contributes there"))
    shown = whole.writing
    assert shown.queries[chosen.row] == "was"
    assert shown.keys[shown.weights[chosen.row].argmax()] == "it"
    assert shown.keys[shown.shares[chosen.row].argmax()] == "was"
    assert chosen.row == max(shown.differing, key=shown.differing.get)


def test_a_sink_gets_more_than_half_and_writes_a_quarter():
    whole, _ = contribution(*states("A sink"))
    shown = whole.writing
    assert shown.weights[1:, 1].mean() > 0.5
    assert shown.shares[1:, 1].mean() == pytest.approx(1 / 4, abs=0.03)
    assert shown.keys[1] == "cat"
    assert "“cat” is an attention sink" in whole.sentence()


def test_one_weight_moves_its_token_and_later_ones_alone():
    weights, stream, _ = changed(*states("One weight"))
    moved, mat = stream.compared.effect.moved, 5
    assert (moved[:mat] == 0).all()
    assert (moved[mat:, -1] > 0).all()
    assert (moved[mat + 1 :, :3] == 0).all()
    assert weights.compared.weights[1, mat, 1] == pytest.approx(0.9)


def test_a_leak_lasts_as_long_as_the_weight_is_not_zero():
    model, state = states("A leak")
    assert changed(model, state)[0].compared.effect.leak.moved > 0.1
    for weight, leaks in (("0.01", True), ("0", False)):
        dragged = AttentionState(**{**vars(state), "changes": f"weight 1.1 3>8 {weight}"})
        weights, _, _ = changed(model, dragged)
        assert bool(weights.compared.effect.leak) is leaks
        assert bool(weights.crosses()) is leaks


def test_half_of_the_weight_needs_less_than_a_third_of_the_lines():
    assert states("Half of the weight")[1].mass == 50
    lines = arcs(*states("Half of the weight")).lines
    drawn = 0
    for row in lines.weights.reshape(-1, lines.weights.shape[-1]):
        have = 0.0
        for weight in np.sort(row)[::-1]:
            if have >= 0.5 * (1 - 1e-6):
                break
            drawn, have = drawn + 1, have + weight
    assert drawn < (lines.weights > 0).sum() / 3


def test_rollout_every_row_leads_back_to_itself():
    shown = arcs(*states("Rollout"))
    rollout = shown.table().to_numpy()
    assert shown.title == "Rollout, layers 1 to 2"
    assert (rollout.argmax(-1) == np.arange(10)).all()
    weights = np.stack([shown.attention.exact(1, head) for head in range(4)]).mean(0)
    assert (weights.argmax(-1) == np.arange(10)).sum() < 6  # of the weights alone that is not true


def test_not_scaled_half_of_the_rows_have_one_token_alone():
    model, state = states("Not scaled")
    top = {on: head_steps(model, replace(state, scaled=on)).weights.max(-1).values[1:] for on in (True, False)}
    assert 4 <= (top[False] > 0.98).sum() <= 6
    assert (top[True] > 0.98).sum() == 0
