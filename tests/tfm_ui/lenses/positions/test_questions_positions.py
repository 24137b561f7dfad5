"""What the questions of the Positions lens's questions take for granted."""

from dataclasses import replace

import pytest
import torch

from tfm_core import sinusoidal_encoding
from tfm_core.study.order import along_batch
from tfm_ui.lenses.positions.fault.numbers import Added, fault
from tfm_ui.lenses.positions.model.shuffle import shuffle
from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.turned import turned
from tfm_ui.live.windows import part_of
from tfm_ui.state.model_state import ModelState


def positions(name):
    question = next(question for question in QUESTIONS if question.name == name)
    return ModelState(**question.model), PositionsState(**question.page)


def test_first_look_both_schemes_are_made_of_the_same_wavelengths():
    a, b = schemes(*positions("First look"))
    waves = [scheme.module.wavelengths(scheme.width) for scheme in (a, b)]
    assert len(waves[0]) == 32
    assert torch.equal(*waves)
    assert (a.has("encode"), b.has("rotate")) == (True, True)


def test_one_clock_two_positions_nearly_coincide_and_width_keeps_them_apart():
    model, state = positions("One clock")
    (clock,) = schemes(model, state)
    assert 0.01 < torch.dist(*clock.module.encode(64)[[0, 44]]) < 0.02
    apart = {
        width: torch.pdist(schemes(model, replace(state, width=width))[0].module.encode(state.length).double()).min()
        for width in (2, 10, 16)
    }
    assert apart[2] < apart[10] < 1 < apart[16]


def test_distance_alone_turned_scores_lie_on_a_line_and_others_do_not():
    result = turned(*positions("Distance alone"))
    (law,) = result.laws().items()
    assert law[1]
    assert "by up to 26" in result.sentence()


def test_slopes_and_buckets_far_tokens_share_a_bucket_within_the_length_and_never_a_slope():
    model, state = positions("Slopes and buckets")
    alibi, t5 = schemes(model, state)
    far = torch.arange(91, state.length)
    assert len(t5.module.buckets(far).unique()) == 1
    assert t5.module.buckets(torch.tensor([90])) != t5.module.buckets(far[:1])
    assert (alibi.module.bias_at(far).diff(dim=-1) < 0).all()


def test_without_an_order_every_output_moves_along_with_its_word():
    result = shuffle(*positions("Without an order"))
    (law,) = result.laws().items()
    assert law[1]
    assert not result.in_order


def test_past_the_end_one_scheme_has_no_65th_row():
    model, state = positions("Past the end")
    learned, rope = schemes(model, state)
    with pytest.raises(ValueError, match="at most max_len=64 tokens, got 65"):
        learned.module.encode(65)
    assert rope.module.rotate(torch.ones(1, 1, state.length, state.width)).isfinite().all()


def test_the_wrong_axis_gives_no_error_and_one_place_to_all_words():
    added = along_batch(torch.zeros(3, 10, 32), sinusoidal_encoding(10, 32))
    assert (added == added[:, :1]).all()
    assert list(Added(fault(*positions("The wrong axis"))).laws().values()) == [True, False]


def test_the_largest_is_pooled_and_some_waves_are_longer_than_the_text():
    model, state = positions("The largest")
    (waves,) = schemes(model, state)
    assert not part_of(state.part, state.length, state.width).exact
    longest = waves.module.wavelengths(state.width).max()
    assert longest > 10 * state.length
