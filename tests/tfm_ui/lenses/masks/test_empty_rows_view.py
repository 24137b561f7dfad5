"""A row without a key, as the view tells it: sentences, laws, tables and scripts in each kind of model."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_ui.lenses.masks.padding.empty_row_pictures import masks_empty_row, masks_nan_spreads
from tfm_ui.lenses.masks.padding.nan_spread import nan_spread
from tfm_ui.lenses.masks.padding.padded import batch_of, laid, without_keys
from tfm_ui.lenses.masks.padding.rows_without_keys import READ_UP_TO, SPREADS, rows_without_keys
from tfm_ui.lenses.masks.padding.treatments import EVALUATING, treatments_of_row
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState

INFINITE, LARGE, OURS = SPREADS
CASES = [
    (ModelState(), MasksState()),
    (ModelState(causal=False, norm="post"), MasksState(mask="cross", layer=2, head=3)),
    (ModelState(positional="rope"), MasksState(pad_side="left")),
    (ModelState(positional="t5", num_heads=1, architecture="decoder"), MasksState(row=2, mask="")),
    (ModelState(architecture="encoder-decoder"), MasksState(place="decoder")),
    (ModelState(architecture="encoder-decoder", norm="post"), MasksState(place="cross", pad_side="left")),
    (ModelState(causal=False), MasksState(paint="~h2.1_2.2_2.3_2.4_2.5", item=1)),
    (ModelState(num_layers=1, seq_len=2, text="🦊"), MasksState(texts="", row=1)),
]
all_cases = pytest.mark.parametrize(("model", "state"), CASES)


def lines(model, state):
    return treatments_of_row(model, state), nan_spread(model, state)


@all_cases
def test_the_rows_are_those_that_the_mask_leaves_no_key(model, state):
    batch = batch_of(model, state)
    composed = laid(batch.setting, state.pad_side, words=False)
    mask, rows, by_hand = without_keys(batch, state.row)
    empty = [i for i, row in enumerate(composed.tolist()) if not any(row)]
    assert by_hand == (not empty)
    if by_hand:
        assert rows == [min(state.row or len(mask), len(mask)) - 1]
        composed[rows[0]] = False
    else:
        assert rows == empty
    assert torch.equal(mask, composed)


@all_cases
def test_what_is_said_holds(model, state):
    rows, spread = lines(model, state)
    assert all(rows.laws().values())
    assert spread.laws() == {
        f"{name}: no NaN in any row of any layer": name != INFINITE for name in (INFINITE, LARGE, OURS)
    }
    assert "ways make it NaN" in rows.sentence()
    fast = model.num_heads % 2 == 0 and not (model.is_encoder_decoder and state.place == "cross")
    assert rows.is_nan(EVALUATING) == fast
    assert ("on its fast path" in rows.sentence()) == fast
    assert ("It has no place for" in rows.sentence()) == (model.positional in ("rope", "t5"))
    table = rows.table()
    assert table.loc["−∞ and softmax", "its weights"] == table.loc["−∞ and softmax", "its output"] == "NaN"
    assert table.loc["ours", "its weights"] == table.loc["ours", "its output"] == "all 0"
    assert table.loc["−1e9 and softmax", "its output"] == "the mean of all values"
    first = spread.nans(INFINITE)[1]
    assert first == len(rows.at.rows)
    if model.num_layers > 1:
        assert spread.nans(INFINITE)[2:] == [len(rows.at.queries)] * (len(spread.titles) - 2)
        assert spread.lost(INFINITE) == 1
    assert spread.lost(OURS) == spread.lost(LARGE) == 0


@all_cases
def test_scripts_give_these_numbers(model, state):
    rows, spread = lines(model, state)
    exec(rows.recipe(), left := {})
    for name, (treated, _) in rows.treated.items():
        assert torch.allclose(left["treated"][name].output, treated.output, atol=1e-5, equal_nan=True)
    exec(spread.recipe(), left := {})
    for name, run in spread.runs.items():
        assert torch.allclose(torch.stack(left["streams"][name]), run.streams, atol=1e-5, equal_nan=True)
        assert torch.allclose(left["logits"][name], run.logits, atol=1e-4, equal_nan=True)


@all_cases
def test_pictures_hold_what_was_measured(model, state):
    rows, spread = lines(model, state)
    header, numbers = masks_empty_row(model, state)
    assert header["blank"] == "NaN"
    assert "NaN" not in str({**header, "blank": "", "about": ""})
    assert np.isnan(numbers[0]).any(1).tolist() == [np.isnan(row).any() for row in rows.weights.values()]
    _, numbers = masks_nan_spreads(model, state)
    np.testing.assert_array_equal(numbers, np.stack(list(spread.shares.values())))
    assert len(spread.table()) == numbers.size


def test_the_row_is_what_was_asked_for():
    rows = treatments_of_row(ModelState(), MasksState(mask="cross", row=8))
    assert rows.at.row == 7
    assert "leaves 5 of 10 rows no key; shown is row 8 (“PAD”)" in rows.sentence()
    rows = treatments_of_row(ModelState(), MasksState(row=3))
    assert "row 3 (“barked”) was emptied here" in rows.sentence()


def test_a_mask_that_hides_everything_leaves_no_other_row():
    state = MasksState(paint="~h" + "_".join(f"{q}.{k}" for q in range(1, 11) for k in range(1, 11)))
    rows, spread = lines(ModelState(), state)
    assert not rows.at.others
    assert set(rows.table()["other rows, from ours"]) == {"there are none"}
    assert "No row has a key" in spread.sentence()
    assert spread.nans(INFINITE) == [0, 10, 10, 10]


def test_the_mechanism_is_told_with_its_numbers():
    said = nan_spread(ModelState(), MasksState()).sentence()
    assert "NaN in 1 of 10 rows after layer 1, 10 of 10 rows after layer 2; in 100% of the logits" in said
    assert "9 rows that may not look there give it a weight of 0, and 0 × NaN = NaN" in said
    assert "others by rounding" in said
    said = nan_spread(ModelState(causal=False), MasksState(mask="")).sentence()
    assert "its key and value are NaN for all who may look at it" in said
    assert "others by up to" in said
    said = nan_spread(ModelState(num_layers=1), MasksState()).sentence()
    assert "There is no second layer" in said
    said = nan_spread(ModelState(architecture="encoder-decoder"), MasksState(place="cross")).sentence()
    assert "the decoder looks at its own text" in said


def test_one_key_one_row_and_several_rows_are_told_as_such():
    rows, spread = lines(ModelState(architecture="encoder-decoder", target="🦊"), MasksState(place="decoder", mask=""))
    assert "a weight of 1 on the only key" in rows.sentence()
    assert "NaN in 1 of 1 row after layer 1" in spread.sentence()
    _, spread = lines(ModelState(causal=False), MasksState(mask="cross"))
    said = "Hiding the rows from others does not help: in layer 2 (head 1) 5 rows that may not look there give them a"
    assert said in spread.sentence()


def test_long_texts_are_run_on_their_beginning():
    model = ModelState(text="@alice", seq_len=1024)
    rows = rows_without_keys(model, MasksState())
    assert len(rows.queries) == READ_UP_TO
    assert "first 128 of 1024 places" in rows.aside(model)
    assert rows_without_keys(replace(model, seq_len=12), MasksState()).aside(replace(model, seq_len=12)) == ""
