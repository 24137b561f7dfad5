"""Shuffled words: what is shown is what the models do with the shuffled text."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import Transformer, causal_mask, encode, recording
from tfm_ui.lenses.positions.model.pictures import moves
from tfm_ui.lenses.positions.model.shuffle import OPEN, READ_UP_TO, shuffle
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(),
    ModelState(causal=False, norm="post"),
    ModelState(text="one two three", seq_len=7, architecture="decoder"),
    ModelState(text="one two three four", seq_len=6, architecture="encoder-decoder"),
]


def outputs(model: ModelState, text: str) -> np.ndarray:
    """The outputs of the stack that reads the text, its tokens alone; from the text itself, without any cache."""
    tokens = encode(text, model.tokenizer, model.length)
    inputs = [tokens.batch] + [model.target_tokens.batch] * model.is_encoder_decoder
    mask = causal_mask(model.length) if model.masks_the_future else None
    prefix = "encoder." if model.is_encoder_decoder else ""
    with torch.no_grad(), recording(f"{prefix}layers.*.feed_forward.residual_after") as trace:
        transformer = Transformer(model.config).eval()
        transformer(*inputs, mask=mask)
    end = list(trace.values())[-1]
    if model.norm == "pre":
        norm = (transformer.encoder if model.is_encoder_decoder else transformer.stack).final_norm
        end = norm(end)
    return end[0, : len(tokens.pieces)].detach().numpy()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_word_is_followed_to_its_new_place(model, seed):
    result = shuffle(model, PositionsState(shuffle=seed))
    pieces = model.source_tokens.pieces
    text = " ".join(pieces[i] for i in result.order)
    assert text != " ".join(pieces)
    for name, row in result.rows.items():
        under = replace(model, positional="none", causal=False) if name == OPEN else model
        if name == OPEN and model.architecture == "decoder":
            under = replace(under, architecture="encoder")
        under = under if name == OPEN else replace(model, positional=name)
        before, after = outputs(under, " ".join(pieces)), outputs(under, text)
        differences = [after[result.order.index(i)] - before[i] for i in range(len(pieces))]
        shares = [np.linalg.norm(d) / np.linalg.norm(b) for d, b in zip(differences, before, strict=True)]
        np.testing.assert_allclose(row.shares, shares, atol=2e-6)
        assert row.largest == pytest.approx(np.abs(differences).max(), abs=5e-6)
    assert (OPEN in result.rows) == (model.looks_back_only and not model.is_encoder_decoder)


@pytest.mark.parametrize("model", MODELS)
def test_without_positions_and_mask_rows_are_permuted_and_with_any_scheme_they_are_not(model):
    result = shuffle(model, PositionsState())
    assert list(result.laws().values()) == [True]
    open_ = result.rows[OPEN if result.masked else "none"]
    assert open_.stayed == len(result.order)
    assert open_.largest < 1e-5
    assert all(result.rows[name].shares.max() > 0.01 for name in ("sinusoidal", "learned", "rope", "alibi", "t5"))
    assert f"each of the {len(result.order)} tokens kept" in result.sentence()
    assert ("causal mask" in result.sentence()) == result.masked


def test_a_law_that_does_not_hold_is_seen():
    result = shuffle(ModelState(), PositionsState())
    broken = replace(result, rows=result.rows | {OPEN: result.rows["none"]})
    assert list(broken.laws().values()) == [False]


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "none of 10 tokens kept their"), (1, "1 of 10 tokens kept its"), (3, "3 of 10 tokens kept their")],
)
def test_tokens_are_counted_in_words(count, said):
    result = shuffle(ModelState(), PositionsState())
    shares = np.where(np.arange(10) < count, 0, 0.004).astype(np.float32)
    plain = replace(result.rows["none"], shares=shares)
    sentence = replace(result, rows=result.rows | {"none": plain}).sentence()
    assert f"{said} output, and the largest move is 0.4% of its length." in sentence
    assert "each of the 10 tokens kept its output" in sentence


def test_two_words_swapped_are_as_far_apart_as_before_and_alibi_tells_no_sides():
    model = ModelState(text="one two", seq_len=2, causal=False)
    rows = shuffle(model, PositionsState()).rows
    assert rows["alibi"].stayed == rows["none"].stayed == 2
    assert rows["t5"].stayed == rows["rope"].stayed == 0


@pytest.mark.parametrize("text", ["a a a", "🦊"])
def test_a_text_of_one_word_has_no_other_order_and_that_is_said(text):
    result = shuffle(ModelState(text=text, seq_len=3), PositionsState())
    assert result.in_order
    assert "nothing can move" in result.sentence()
    assert result.sentence().startswith("All tokens" if " " in text else "The text is one token")
    assert result.laws() == {}  # there is nothing to measure
    assert all(row.largest == 0 for row in result.rows.values())
    header, numbers = moves(ModelState(text=text, seq_len=3), PositionsState())
    assert numbers.max() == 0
    assert header["maps"][0]["high"] == 1


def test_the_texts_are_written_out_as_far_as_they_can_be_read():
    before, after = shuffle(ModelState(), PositionsState()).texts()
    assert before == "the cat sat on the₂ mat because it was tired"
    assert sorted(before.split()) == sorted(after.split())
    long = shuffle(ModelState(text="@alice", seq_len=100), PositionsState()).texts()
    assert all(text.endswith(" …") and len(text.split()) == READ_UP_TO + 1 for text in long)


def test_the_picture_and_the_table_are_of_the_rows():
    result = shuffle(ModelState(), PositionsState())
    header, numbers = moves(ModelState(), PositionsState())
    assert header["rows"]["names"] == ["A: sinusoidal", "B: rope", "none", "learned", "alibi", "t5", OPEN]
    assert header["places"][1] == list(range(10))  # as "place before" in the table
    np.testing.assert_array_equal(numbers[0], np.stack([row.shares for row in result.rows.values()]))
    table = result.table()
    assert len(table) == 11
    assert table["moved, rope"].iloc[:10].tolist() == pytest.approx(result.rows["rope"].shares.tolist())
    assert table["moved, rope"].iloc[10] == result.rows["rope"].largest
    assert [result.order[int(place)] for place in table["place after"].iloc[:10]] == list(range(10))


@pytest.mark.parametrize("model", MODELS)
def test_the_script_gives_the_numbers_shown(model):
    result, scope = shuffle(model, PositionsState(shuffle=5)), {}
    exec(result.recipe(), scope)
    assert tuple(scope["order"]) == result.order
    assert scope["share"].keys() == result.rows.keys()
    for name, share in scope["share"].items():
        np.testing.assert_allclose(result.rows[name].shares, share, atol=2e-6)
