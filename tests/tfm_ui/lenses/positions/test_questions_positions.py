"""What the questions of the Positions lens take for granted, and their answers, on two models or schemes each."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import Transformer, recording, sinusoidal_encoding
from tfm_core.study.order import along_batch
from tfm_ui.lenses.positions import questions
from tfm_ui.lenses.positions.fault import FaultAdded
from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.live.windows import part_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def positions(name):
    question = next(question for question in QUESTIONS if question.name == name)
    return ModelState(**question.model), PositionsState(**question.controls)


def test_two_ways_both_schemes_are_made_of_the_same_wavelengths():
    a, b = schemes(*positions("Two ways"))
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
    result = Turned(*positions("Distance alone"))
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
    result = Shuffled(*positions("Without an order"))
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
    assert list(FaultAdded(*positions("The wrong axis")).laws().values()) == [True, False]


def test_the_largest_is_pooled_and_some_waves_are_longer_than_the_text():
    model, state = positions("The largest")
    (waves,) = schemes(model, state)
    assert not part_of(state.part, state.length, state.width).exact
    longest = waves.module.wavelengths(state.width).max()
    assert longest > 10 * state.length


def answered(name, model=None, **page):
    model_asked, state = positions(name)
    answer = next(question for question in QUESTIONS if question.name == name).answer
    return answer(replace(model_asked, **(model or {})), replace(state, **page))


def test_what_they_do_is_told_of_each_scheme():
    answer = answered("Two ways")
    assert "A: sinusoidal: a vector is added" in answer
    assert "B: rope: queries and keys are turned" in answer
    other = answered("Two ways", a="none", b="alibi")
    assert "A: none: nothing is added and nothing is turned." in other
    assert "B: alibi: a number for each distance is added" in other


@pytest.mark.parametrize("length", [160, 91, 60])
def test_the_distance_from_which_all_keys_are_the_same_is_where_the_last_bucket_begins(length):
    (t5,) = schemes(ModelState(), PositionsState(a="t5", b="nothing", length=length))
    buckets = t5.module.buckets(-torch.arange(1000)).tolist()  # far longer than what is on screen
    first = buckets.index(buckets[-1])
    answer = answered("Slopes and buckets", length=length)
    assert f"B: t5: from a distance of {first} tokens on" in answer
    assert ("No distance on screen is as long" in answer) == (first >= length)
    assert f"A: alibi: every distance up to {length - 1} has a number of its own" in answer
    assert answered("Slopes and buckets", a="rope", b="none").startswith("Neither A nor B adds a bias")


@pytest.mark.parametrize("width", [2, 16])
def test_the_two_nearest_positions_are_found_among_all_pairs(width):
    model, state = positions("One clock")
    state = replace(state, width=width)
    nearest = torch.pdist(sinusoidal_encoding(64, width).double()).min().item()
    assert questions.smallest_distance(model, state) == pytest.approx(nearest, abs=6e-4)
    assert f"{nearest:.3f} apart" in answered("One clock", width=width)


def test_diagonals_are_equal_where_the_distance_alone_counts():
    assert answered("Diagonals").startswith("Colours are equal along each diagonal in A: sinusoidal and B: rope.")
    other = answered("Diagonals", a="learned", b="alibi")
    assert "in B: alibi. In A: learned they are not" in other
    assert answered("Diagonals", a="none", b="nothing").endswith("Choose another A or B to compare positions.")


def test_a_turned_score_is_one_per_distance_and_without_rope_there_is_none():
    assert "“three words back”" in answered("Distance alone")
    assert answered("Distance alone", a="alibi", b="t5") == "Neither A nor B turns queries and keys: choose rope."


def test_outputs_move_along_only_without_positions_and_mask():
    assert answered("Without an order").startswith("Without positions each of the 10 tokens kept its output")
    masked = answered("Without an order", {"causal": True, "text": "to be or not to be"})
    assert masked.startswith("Even without positions the causal mask tells some order")


def test_the_weights_are_compared_under_a_and_b():
    assert "under sinusoidal" in answered("Same head, other positions")
    other = answered("Same head, other positions", {"num_heads": 2, "seed": 3}, a="alibi", b="t5")
    assert "under alibi" in other
    assert "under t5" in other


def test_past_the_end_a_table_refuses_and_waves_go_on():
    assert "A: learned: positions 64 to 127 are not defined." in answered("Past the end")
    assert "beyond max_len too" in answered("Past the end", a="sinusoidal")
    turned = answered("Past the end", a="rope", b="nothing")
    assert "a position past max_len is not new; a distance of 64 or more is" in turned
    assert "shaded" not in turned
    assert "dot product" not in turned
    assert answered("Past the end", a="alibi", b="t5").startswith("Neither A nor B makes or turns vectors")


@pytest.mark.parametrize("max_len", [48, 12])
def test_the_waves_that_have_not_completed_a_turn_are_counted(max_len):
    (scheme,) = schemes(ModelState(), PositionsState(b="nothing"))
    slow = int((scheme.module.wavelengths(64) > max_len - 1).sum())
    assert f"of 32 waves, {slow} " in answered("Unseen angles", max_len=max_len)


def test_the_fault_is_told_of_any_sentence_of_the_batch():
    assert "all its positions get PE(1)" in answered("The wrong axis")
    assert "all its positions get PE(0)" in answered("The wrong axis", item=1)
    assert "looks at" in answered("What becomes of it")
    assert "looks at" in answered("What becomes of it", {"text": "to be or not to be", "seed": 3}, item=3)


@pytest.mark.parametrize("d_model", [32, 64])
def test_the_parameters_of_the_learned_table_are_counted(d_model):
    model = ModelState(d_model=d_model)
    count = Transformer(replace(model, positional="learned").config).stack.positional.weight.numel()
    assert questions.learned_parameters(model, PositionsState()) == count
    assert f"learned {count:,}" in answered("A table or a formula", {"d_model": d_model})
    assert f"learned ({count:,})" in answered("Which kind?", {"d_model": d_model})


@pytest.mark.parametrize(("width", "length"), [(512, 4096), (64, 64), (2, 64)])
def test_waves_longer_than_the_text_begin_where_the_formula_says(width, length):
    turns = (length - 1) * 10000 ** (-np.arange(0, width, 2) / width) / (2 * np.pi)
    first = int((turns < 1).argmax()) if (turns < 1).any() else None
    answer = answered("The largest", width=width, length=length, b="rope")
    place = "every wave completes" if first is None else f"from dimension {2 * first} on"
    assert answer.startswith(f"A: sinusoidal: {place}")
    assert ("B: rope: every" if first is None else f"B: rope: from pair {first} on") in answer
    assert "choose sinusoidal or rope" in answered("The largest", a="learned", b="t5")


def test_learned_by_place_without_positions_the_mirror_is_lost():
    model, state = positions("Learned by place")
    mirror = {}
    for name in ("learned", "none"):
        with torch.no_grad(), recording("*.weights") as trace:
            Transformer(replace(model.config, positional=name)).eval()(model.source_tokens.batch)
        mirror[name] = float(trace["layers.0.self_attention.weights"][0, 0].flip(1).diagonal().mean())
    assert mirror["learned"] > 0.95
    assert mirror["none"] < 0.3
    answer = questions.where_it_should(model, state)
    assert (
        f"as it was trained, {formats.share(mirror['learned'])} of the weight of layer 1, head 1 lies there" in answer
    )
    assert f"{formats.share(mirror['none'])} with none" in answer
    assert questions.on_the_right_place(model, state) == pytest.approx(100 * mirror["none"], abs=0.05)


def test_of_random_weights_nobody_knows_where_a_head_should_look():
    _, state = positions("Learned by place")
    assert questions.where_it_should(ModelState(), state).startswith("What is right is known of examples")
    assert questions.on_the_right_place(ModelState(), state) == 0
