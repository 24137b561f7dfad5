"""Answers to questions of the Masks lens, on other models and masks than those that the questions set up.

Those to the questions as they are asked are in tests/record/links/masks, to the letter.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import Transformer, causal_mask
from tfm_ui.lenses.masks import questions
from tfm_ui.lenses.masks.see import See
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def masks(name):
    question = next(question for question in questions.QUESTIONS if question.name == name)
    return ModelState(**question.model), MasksState(**question.controls)


@pytest.mark.parametrize(("layer", "paint"), [(1, "2x9.TAAAACQ"), (2, "2x9.TAAAACQ"), (1, "~s6.2"), (2, "~s6.2")])
def test_all_rows_whose_weights_a_painted_cell_moves_are_named(layer, paint):
    states = masks("Packed documents")
    model, state = states[0], replace(states[1], layer=layer, paint=paint)
    free, painted = (See(model, each) for each in (replace(state, paint=""), state))
    moved = np.flatnonzero(np.abs(painted.obeyed.weights - free.obeyed.weights).max(1) > 1e-6)
    answer = questions.one_cell(model, state)
    told = answer.split("it moves the weights of ")[1].split(". In layer 1")[0]
    assert told.startswith(formats.plural(len(moved), "row"))
    assert all(f"“{painted.names[0][row]}”" in told for row in moved[:4])
    changed = (painted.setting.composed.numpy() != painted.obeyed.mask).any(1).sum()
    assert (len(moved) > changed) == (layer > 1)
    assert "every digit" not in questions.one_cell(model, replace(state, paint=""))


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
    answer = answered("Sliding window", {"num_layers": layers}, mask=f"window {width}")
    assert f"can hold something of {expected} tokens" in answer
    assert answer.startswith(f"“tired” sees {width} tokens in one layer")


@pytest.mark.parametrize(("mask", "after"), [("window 3", 4), ("window 1", 0)])
def test_the_layer_after_which_the_first_word_arrives(mask, after):
    model, state = masks("Through the window")
    assert questions.layer_of_arrival(model, replace(state, mask=mask)) == after
    answer = answered("Through the window", mask=mask)
    assert answer.startswith(f"After layer {after}:" if after else "It does not arrive within 8 layers")


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
        ("A large number", {"causal": False}, {"mask": ""}, "was emptied here.* all 10 keys"),
        ("A large number", {"architecture": "decoder", "seq_len": 4}, {}, "0.25 on all 4 keys"),
        ("One PAD", {"num_layers": 1}, {}, "There is no second layer for it to spread in."),
        ("Which way round?", {"causal": False}, {"convention": "MHA, key_padding_mask"}, "no error is raised"),
    ],
)
def test_answers_are_true_of_other_models_and_masks(question, model, page, said):
    assert re.search(said, answered(question, model, **page))


@pytest.mark.parametrize(("layers", "mask", "after"), [(2, "cross", 2), (5, "cross", 2), (1, "cross", 0)])
def test_the_layer_after_which_one_pad_has_taken_every_row(layers, mask, after):
    model, state = masks("One PAD")
    assert questions.layer_of_all_nan(replace(model, num_layers=layers), replace(state, mask=mask)) == after


def test_where_all_rows_are_empty_all_are_nan_after_the_first_layer():
    hidden = "~h" + "_".join(f"{query}.{key}" for query in range(1, 12) for key in range(1, 12))
    model, state = masks("One PAD")
    assert questions.layer_of_all_nan(model, replace(state, paint=hidden)) == 1


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
    answer = questions.answers_under_mask(model, state)
    assert answer.startswith(f"Under this mask {counts[0]} of 10 answers are right; as the model was trained, 10 of 10")
    assert (questions.right_under_mask(model, state), counts[1]) == (counts[0], 10)
    assert counts[0] < 7
    assert "No answer needs what this mask hides" in questions.answers_under_mask(model, replace(state, mask=""))


def test_of_random_weights_nobody_knows_what_is_lost_under_a_mask():
    _, state = masks("Trained to see all")
    assert questions.answers_under_mask(ModelState(), state).startswith("What is right is known of examples")
    assert questions.right_under_mask(ModelState(), state) == 0
