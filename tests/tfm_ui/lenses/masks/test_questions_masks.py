"""What the questions of the Masks lens take for granted, and their answers, on two models or masks each."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import Transformer, causal_mask
from tfm_ui.lenses.masks import questions
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.leaks.moved import Leaks, LeaksDistance
from tfm_ui.lenses.masks.padding.beside import PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import NanSpreads
from tfm_ui.lenses.masks.padding.padded import ROUNDING
from tfm_ui.lenses.masks.see import See
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def masks(name):
    question = next(question for question in questions.QUESTIONS if question.name == name)
    return ModelState(**question.model), MasksState(**question.page)


# see


def test_hidden_columns_five_of_ten_columns_are_hidden_from_top_to_bottom():
    result = See(*masks("Hidden columns"))
    assert result.obeyed.mask.shape == (10, 10)
    assert (~result.obeyed.mask).all(0).sum() == 5
    assert {result.names[1][i] for i in np.flatnonzero((~result.obeyed.mask).all(0))} == {"PAD"}
    assert np.allclose(result.obeyed.weights.sum(1), 1)  # the weight is paid back to what is left


def test_sliding_window_the_tenth_sees_three_and_has_heard_of_more_after_two_layers():
    result = See(*masks("Sliding window"))
    assert len(result.setting.queries.pieces) == 10
    assert np.flatnonzero(result.obeyed.mask[9]).tolist() == [7, 8, 9]
    twice = result.obeyed.mask.astype(int) @ result.obeyed.mask
    assert np.flatnonzero(twice[9]).tolist() == [5, 6, 7, 8, 9]


def test_longformer_two_layers_bring_every_word_to_every_other():
    result = See(*masks("Longformer"))
    mask = result.obeyed.mask.astype(int)
    assert mask[0].all()
    assert mask[:, 0].all()
    assert np.flatnonzero(mask[5]).tolist() == [0, 3, 4, 5, 6, 7]
    assert not mask.all()
    assert (mask @ mask).all()


def test_packed_documents_one_painted_cell_moves_one_row_of_weights():
    model, state = masks("Packed documents")
    result = See(model, state)
    blocks = np.repeat([0, 1, 2], [4, 3, 3])
    assert (result.obeyed.mask == (np.equal.outer(blocks, blocks) & np.tri(10, dtype=bool))).all()
    painted = See(model, MasksState(**{**vars(state), "paint": "~s6.2"}))
    moved = (painted.obeyed.weights != result.obeyed.weights).any(1)
    assert np.flatnonzero(moved).tolist() == [5]


@pytest.mark.parametrize(("layer", "paint"), [(1, "2x9.TAAAACQ"), (2, "2x9.TAAAACQ"), (1, "~s6.2"), (2, "~s6.2")])
def test_all_rows_whose_weights_a_painted_cell_moves_are_named(layer, paint):
    states = masks("Packed documents")
    model, state = states[0], replace(states[1], layer=layer, paint=paint)
    free, painted = (See(model, each) for each in (replace(state, paint=""), state))
    moved = np.flatnonzero(np.abs(painted.obeyed.weights - free.obeyed.weights).max(1) > 1e-6)
    said = questions.one_cell(model, state)
    told = said.split("it moves the weights of ")[1].split(". In layer 1")[0]
    assert told.startswith(formats.plural(len(moved), "row"))
    assert all(f"“{painted.names[0][row]}”" in told for row in moved[:4])
    changed = (painted.setting.composed.numpy() != painted.obeyed.mask).any(1).sum()
    assert (len(moved) > changed) == (layer > 1)
    assert "every digit" not in questions.one_cell(model, replace(state, paint=""))


# leaks


def test_leaky_by_one_lets_see_one_token_ahead_in_each_layer():
    model, state = masks("Leaky by one")
    result = LeaksDistance(model, state)
    assert result.reaches["ahead"] == ([0, 0], [1, 2])
    assert int((result.setting.mask != result.promise).sum()) == 9  # a diagonal of ten tokens
    assert int(result.leaking.sum()) == 9 + 8
    assert "up to 9 tokens back and 2 tokens ahead of it; allowed: 9 and 0." in result.sentence()


def test_through_the_window_the_first_word_reaches_the_last_behind_layer_seven():
    measured = LeaksDistance(*masks("Through the window"))
    visible = [row.nonzero()[:, 0].tolist() for row in measured.setting.mask]
    assert visible == [[key for key in (query - 1, query, query + 1) if 0 <= key < 8] for query in range(8)]
    assert measured.moves[:, 0, 7].tolist() == [False] * 6 + [True] * 2
    assert measured.moves[:, 7, 0].tolist() == [False] * 6 + [True] * 2
    assert measured.reaches["back"][1] == [1, 2, 3, 4, 5, 6, 7, 7]
    assert list(measured.laws().values()) == [True]


def test_one_cell_too_many_makes_thirteen_leaks():
    model, state = masks("One cell too many")
    result = Leaks(model, state)
    painted = result.setting.mask & ~result.promise
    assert painted.nonzero().tolist() == [[1, 8]]
    assert int(Leaks(ModelState(num_layers=1), state).leaking.sum()) == 1
    assert int(result.leaking.sum()) == 13


# padding


def test_without_the_mask_pads_take_a_quarter_of_the_weight_and_every_output_moves():
    result = PaddingWeights(*masks("Without the mask"))
    assert result.batch.pads == 5
    assert 0.24 < result.onto.mean() < 0.27
    assert (result.shares["without"][-1] > 0.4).all()
    assert result.largest("with") < ROUNDING


def test_one_nan_five_rows_without_a_key_and_a_layer_later_every_token_is_nan():
    result = NanSpreads(*masks("One NaN"))
    assert (result.rows, result.by_hand) == ([5, 6, 7, 8, 9], False)
    assert result.nans("−∞ and softmax")[:3] == [0, 5, 10]
    assert (result.blind, set(result.runs["−∞ and softmax"].onto_empty)) == (5, {0})
    assert np.isnan(0 * np.nan)


# conventions


def test_which_way_round_no_call_complains_and_torchs_module_alone_gives_nan():
    calls = Conventions(*masks("Which way round?")).verified
    assert all(call.slipped > 0.1 or call.slipped_nan for call in calls.values())
    giving = [name for name, call in calls.items() if call.slipped_nan]
    assert giving == ["MHA, attn_mask", "MHA, attn_mask per head", "MHA, key_padding_mask"]
    queries = [calls[name].slipped_nan for name in giving]
    assert queries == [2, 1, 10]


# answers: those to the questions as they are asked are in tests/record/links/masks, to the letter


def answered(name, model=None, **page):
    states = masks(name)
    return next(question for question in questions.QUESTIONS if question.name == name).answer(
        replace(states[0], **(model or {})), replace(states[1], **page)
    )


def test_a_sentence_without_padding_has_no_hidden_column():
    model, state = masks("Hidden columns")
    assert questions.columns_hidden(model, replace(state, item=1)) == 0
    assert answered("Hidden columns", item=1).startswith("No column is hidden")


@pytest.mark.parametrize(("layers", "width"), [(3, 3), (2, 2)])
def test_a_window_reaches_one_window_further_in_each_layer(layers, width):
    expected = min(10, layers * (width - 1) + 1)
    model, state = masks("Sliding window")
    model, state = replace(model, num_layers=layers), replace(state, mask=f"window {width}")
    assert questions.heard_of_after_all_layers(model, state) == expected
    said = answered("Sliding window", {"num_layers": layers}, mask=f"window {width}")
    assert f"can hold something of {expected} tokens" in said
    assert said.startswith(f"“tired” sees {width} tokens in one layer")


@pytest.mark.parametrize(("mask", "after"), [("window 3", 4), ("window 1", 0)])
def test_the_layer_after_which_the_first_word_arrives(mask, after):
    model, state = masks("Through the window")
    assert questions.layer_of_arrival(model, replace(state, mask=mask)) == after
    said = answered("Through the window", mask=mask)
    assert said.startswith(f"After layer {after}:" if after else "It does not arrive within 8 layers")


@pytest.mark.parametrize(
    ("question", "model", "page", "said"),
    [
        ("Longformer", {}, {"mask": "window 2"}, "^9 layers:"),
        ("Longformer", {"causal": True}, {}, "^No number of layers is enough: only 55 of 100 pairs"),
        ("Packed documents", {}, {"paint": "~s6.2"}, "^The paint changes the mask of 1 row: “mat”."),
        ("One cell too many", {"num_layers": 1}, {}, "the only leak"),
        ("Leaky by one", {"num_layers": 1}, {}, "1 token ahead of it"),
        ("Without the mask", {"seed": 3, "num_heads": 2}, {}, "Not hidden, they move"),
        ("One NaN", {"num_layers": 1}, {}, "There is no second layer for it to spread in."),
        ("Which way round?", {"causal": False}, {"convention": "MHA, key_padding_mask"}, "no error is raised"),
    ],
)
def test_answers_are_true_of_other_models_and_masks(question, model, page, said):
    assert re.search(said, answered(question, model, **page))


def test_without_causality_a_row_for_each_sentence_can_say_all():
    model, state = masks("One row per sentence")
    assert questions.cells_lost(replace(model, causal=False), state) == 0
    assert "cannot say" not in answered("One row per sentence", {"causal": False})


def test_trained_to_see_all_answers_that_lie_ahead_are_lost_under_the_causal_mask():
    model, state = masks("Trained to see all")
    batch, right = model.source_tokens.batch, model.source_tokens.batch.flip(1)
    counts = []
    for mask in (causal_mask(10), None):
        with torch.no_grad():
            logits = Transformer(model.config).eval()(batch, mask=mask)
        counts.append(int((logits.argmax(-1) == right).sum()))
    said = questions.answers_under_mask(model, state)
    assert said.startswith(f"Under this mask {counts[0]} of 10 answers are right; as the model was trained, 10 of 10")
    assert (questions.right_under_mask(model, state), counts[1]) == (counts[0], 10)
    assert counts[0] < 7
    assert "No answer needs what this mask hides" in questions.answers_under_mask(model, replace(state, mask=""))


def test_of_random_weights_nobody_knows_what_is_lost_under_a_mask():
    _, state = masks("Trained to see all")
    assert questions.answers_under_mask(ModelState(), state).startswith("What is right is known of examples")
    assert questions.right_under_mask(ModelState(), state) == 0
