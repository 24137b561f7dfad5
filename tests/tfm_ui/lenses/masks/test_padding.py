"""The view "padding": masks beside naive loops, runs beside a model called by hand, and rows without a key."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import MASKS, Transformer
from tfm_ui.lenses.masks.composition import composed
from tfm_ui.lenses.masks.padding.amount import AMOUNTS, PaddingAmount, beside_pads
from tfm_ui.lenses.masks.padding.beside import TITLES, Padding, PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import EVALUATING, READ_UP_TO, EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.padded import (
    ROUNDING,
    among_tokens,
    batch_of,
    laid,
    most_places,
    told,
    without_keys,
)
from tfm_ui.lenses.masks.padding.treated import SPREADS
from tfm_ui.lenses.masks.state import SIDES, MasksState
from tfm_ui.live import memory, passes
from tfm_ui.state.model_state import ModelState

FREE = ModelState(causal=False)
MODELS = [
    (ModelState(), MasksState()),
    (FREE, MasksState(pad_side="left")),
    (replace(FREE, norm="post", num_layers=1), MasksState(mask="global 1 or window 2 and padding")),
    (ModelState(architecture="decoder", positional="alibi"), MasksState(pad_side="left")),
    (ModelState(architecture="encoder-decoder", norm="post"), MasksState(place="cross")),
    (ModelState(architecture="encoder-decoder"), MasksState(place="cross", pad_side="left")),
    (ModelState(architecture="encoder-decoder"), MasksState(place="decoder")),
    (FREE, MasksState(paint="~s2.3_2.4~h1.1", mask="window 2", texts="a b c\nd\ne f g h i j k l m n\n\n🦊")),
    (FREE, MasksState(item=8, texts="\n".join("abcdefg"), mask="documents 2 3")),
]
both_sides = pytest.mark.parametrize("side", SIDES)
all_models = pytest.mark.parametrize(("model", "state"), MODELS)


def run(model=FREE, **state):
    return Padding(model, MasksState(**state))


def weights_of(beside):
    return PaddingWeights(beside.model, beside.state)


def by_amount(beside):
    return PaddingAmount(beside.model, beside.state)


@both_sides
@all_models
def test_among_tokens_the_mask_is_the_same_wherever_padding_stands(model, state, side):
    batch = batch_of(model, replace(state, pad_side=side))
    tokens = among_tokens(batch.setting)
    for words in (True, False):
        mask = laid(batch.setting, side, words=words)
        assert torch.equal(mask[batch.queries, batch.keys], tokens)
    if side == "right":
        assert torch.equal(laid(batch.setting, side, words=False), batch.setting.mask)


@both_sides
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", ["padding", "cross", "causal", "window 2", "strided 2"])
def test_masks_beside_a_double_loop(name, causal, side):
    model = replace(FREE, causal=causal)
    batch = batch_of(model, MasksState(mask=name, pad_side=side))
    pads, total = batch.pads, model.length
    is_pad = [i < pads if side == "left" else i >= total - pads for i in range(total)]
    rule = {
        "padding": lambda q, k: True,  # PAD is a word
        "cross": lambda q, k: True,
        "causal": lambda q, k: k <= q,
        "window 2": lambda q, k: abs(q - k) < 2,
        "strided 2": lambda q, k: abs(q - k) < 2 or (q - k) % 2 == 0,
    }[name]
    for hidden in (True, False):
        mask = batch.masks(hidden=hidden)[batch.item, 0]
        for q in range(total):
            for k in range(total):
                expected = rule(q, k) and (k <= q or not causal) and not (hidden and is_pad[k])
                assert mask[q, k] == expected


@given(st.sampled_from(list(MASKS)), st.sampled_from(SIDES), st.integers(0, 12))
def test_any_number_of_pads_leaves_the_mask_among_tokens_alone(name, side, pads):
    batch = batch_of(ModelState(), MasksState(mask=name, pad_side=side))
    text, (tokens, among) = batch.setting.model.source_tokens, batch.alone

    def of_tokens(queries, keys, rows, columns):
        return composed(name, queries, keys, causal=True)

    inputs, mask, rows = beside_pads([tokens], among, of_tokens, (0, 0), pads, left=side == "left")
    assert mask.shape == (5 + pads, 5 + pads)
    assert torch.equal(mask[rows, rows], among_tokens(batch.setting))
    laid_out = inputs[0][0]
    assert laid_out[rows].tolist() == list(text.ids[:5])
    assert not laid_out.index_fill(0, torch.arange(5 + pads)[rows], 0).any()


@all_models
def test_what_is_run_alone_is_the_sentence_alone_and_the_batch_is_a_batch(model, state):
    beside = Padding(model, state)
    batch = beside.batch
    transformer = Transformer(model.config).eval()
    text = batch.setting.model.source_tokens
    words = torch.tensor([text.ids[: len(text.pieces)]])
    target = batch.setting.model.target_tokens.batch
    cross = batch.setting.place == "cross"
    given_mask = {"cross_mask" if cross else "mask": among_tokens(batch.setting)}
    inputs = (words, target) if model.is_encoder_decoder else (words,)
    with torch.no_grad():
        logits = transformer(*inputs, **given_mask)
        end = beside.runs["alone"].streams[-1]
        assert torch.allclose(transformer.unembedding(end), logits[0], atol=1e-5)
    assert batch.source.shape == (len(batch.settings), model.length)
    for way in TITLES:
        by_hand = np.linalg.norm(beside.runs[way].streams - beside.runs["alone"].streams, axis=-1)
        by_hand /= np.linalg.norm(beside.runs["alone"].streams, axis=-1)
        np.testing.assert_allclose(beside.shares[way], by_hand, atol=1e-6)


@pytest.mark.parametrize("item", [1, 2, 3])
def test_automatic_padding_is_the_way_with_padding_hidden(item):
    state = MasksState(item=item, texts="the dog barked at me\nno")
    batch = batch_of(FREE, state)
    with torch.no_grad():
        logits = passes.transformer(FREE.config)(batch.source)
        end = Padding(FREE, state).runs["with"].streams[-1]
        assert torch.allclose(
            passes.transformer(FREE.config).unembedding(end), logits[item - 1, : batch.read], atol=1e-5
        )


@pytest.mark.parametrize("positional", ["none", "sinusoidal", "learned", "rope", "alibi", "t5"])
@pytest.mark.parametrize("causal", [True, False])
@both_sides
def test_what_moves(positional, causal, side):
    beside = run(replace(FREE, causal=causal, positional=positional), pad_side=side)
    by_place = side == "left" and positional in ("sinusoidal", "learned")
    harmless = side == "right" and causal
    assert (beside.largest("with") < ROUNDING) == (not by_place)
    assert (beside.largest("without") < ROUNDING) == harmless
    assert beside.harmless == harmless
    assert beside.shifted == by_place
    sentence = beside.sentence()
    assert ("No token looks ahead" in sentence) == harmless
    assert ("hidden, they change nothing but the last digits" in sentence) == (not by_place and not harmless)
    assert (f"where the {positional} position vectors are different" in sentence) == by_place
    assert list(beside.laws().values()) == [not by_place, harmless]
    assert beside.may_look == (not harmless)
    assert (weights_of(beside).onto > 0).all() == (not harmless)


def test_by_amount_without_padding_nothing_moves_and_the_present_amount_is_among_them():
    beside = run()
    assert set(by_amount(beside).amounts) == {*AMOUNTS, 5}
    assert max(by_amount(beside).amounts[0]) < ROUNDING
    assert by_amount(beside).amounts[5][1] == pytest.approx(beside.largest("without"), rel=1e-3)
    assert all(hidden < ROUNDING < 0.1 < free for count, (hidden, free) in by_amount(beside).amounts.items() if count)
    assert "From 1 PAD to 64 the largest move" in by_amount(beside).sentence()
    left = run(pad_side="left")
    assert by_amount(left).amounts[5] == pytest.approx((left.largest("with"), left.largest("without")), rel=1e-3)


def test_a_sentence_without_padding_has_nothing_to_hide():
    beside = run(item=1)
    assert "fills all of its 10 places" in beside.sentence()
    assert beside.laws() == {}
    assert "no key is padding" in weights_of(beside).sentence()
    assert weights_of(beside).laws() == {}


def test_a_decoder_that_reads_another_text_is_not_padded():
    beside = run(ModelState(architecture="encoder-decoder"), place="decoder")
    assert beside.harmless
    assert "look at “cross”" in beside.sentence()
    assert not len(beside.open_columns)


def test_a_mask_that_keeps_tokens_from_padding_by_itself():
    beside = run(mask="documents 5")
    assert beside.harmless
    assert "lets no token look at PAD" in beside.sentence()
    assert "nobody may look at the 5 PADs" in weights_of(beside).sentence()


def test_the_head_on_screen():
    weights = weights_of(run(layer=2, head=3))
    maps = weights.maps
    assert np.isnan(maps["alone"][:, 5:]).all()
    assert np.isnan(maps["with"][:, 5:]).all()
    np.testing.assert_allclose(maps["with"][:, :5], maps["alone"][:, :5], atol=1e-6)
    np.testing.assert_allclose(maps["without"].sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(weights.onto, maps["without"][:, 5:].sum(-1), atol=1e-6)
    header, numbers = PaddingWeights.content(FREE, MasksState(layer=2, head=3))
    assert np.isposinf(numbers[0, :, 5:]).all()
    assert np.isnan(numbers[1, :, 5:]).all()
    assert [named["name"] for named in header["maps"]] == ["Alone", "Padding hidden", "Padding not hidden"]


@both_sides
def test_large_tables_are_pooled_and_absent_padding_stays_absent(side):
    model = replace(FREE, seq_len=600, text="@alice", num_layers=1)
    beside = run(model, texts=" ".join("word" for _ in range(300)), pad_side=side)
    _, numbers = weights_of(beside).picture()
    absent = np.isposinf(numbers[0]).all(0)
    assert numbers.shape[2] == 200  # three columns to a cell
    assert absent.sum() == 100
    assert not absent[slice(100) if side == "right" else slice(100, None)].any()
    assert not np.isposinf(numbers[1:]).any()


def test_what_takes_long_is_cut_and_said():
    model = ModelState(text="@alice", seq_len=1024, num_heads=16, num_layers=8, d_model=256)
    assert most_places(model, 8) == 128
    assert most_places(ModelState(), 8) == 1024
    assert 8 * 16 * most_places(replace(model, num_layers=1, d_model=32), 8) ** 2 * 4 <= memory.MOST
    beside = run(replace(model, num_layers=4, num_heads=8, d_model=128), texts="\n".join("abcdefg"))
    assert "8 sentences of 1024 places" in beside.aside()
    assert beside.batch.source.shape[1] < 1024
    assert run().aside() == ""


@pytest.mark.parametrize("text", ["🦊", "a"])
def test_the_smallest_sentences(text):
    beside = run(replace(FREE, seq_len=2), texts=text)
    assert beside.batch.read == beside.batch.pads == 1
    assert "1 PAD after 1 token" in beside.sentence()
    assert "the one PAD takes" in weights_of(beside).sentence()
    assert run(replace(FREE, seq_len=2), texts="").batch.pads == 0


def test_a_batch_is_as_long_as_its_longest_sentence_or_as_the_link_says():
    texts = MasksState(texts="a b c d e\nf g h i j k l m n o p q\nr")
    short = ModelState(text="one two three")
    batch = batch_of(short, texts)
    assert [len(setting.model.source_tokens.pieces) for setting in batch.settings] == [3, 5, 12, 1]
    assert batch.source.shape == (4, 12)
    assert batch_of(replace(short, seq_len=4), texts).source.shape == (4, 4)
    assert Padding(short, texts).aside() == ""
    target = replace(short, architecture="encoder-decoder", target="one two three four")
    assert batch_of(target, MasksState(texts="")).setting.model.target_tokens.pieces == ("one", "two", "three", "four")


def test_shares_are_told():
    assert [told(share) for share in (0, 2e-7, 0.004, 0.5, 1.24)] == ["0", "2×10⁻⁷", "0.4%", "50%", "124%"]


# a row without a key, as the view tells it

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


def panels(model, state):
    return EmptyRow(model, state), NanSpreads(model, state)


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
    rows, spread = panels(model, state)
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
    assert first == len(rows.rows)
    if model.num_layers > 1:
        assert spread.nans(INFINITE)[2:] == [len(rows.queries)] * (len(spread.titles) - 2)
        assert spread.lost(INFINITE) == 1
    assert spread.lost(OURS) == spread.lost(LARGE) == 0


@all_cases
def test_pictures_hold_what_was_measured(model, state):
    rows, spread = panels(model, state)
    header, numbers = EmptyRow.content(model, state)
    assert header["blank"] == "NaN"
    assert "NaN" not in str({**header, "blank": "", "about": ""})
    assert np.isnan(numbers[0]).any(1).tolist() == [np.isnan(row).any() for row in rows.weights.values()]
    _, numbers = NanSpreads.content(model, state)
    np.testing.assert_array_equal(numbers, np.stack(list(spread.shares.values())))
    assert len(spread.table()) == numbers.size


def test_the_row_is_what_was_asked_for():
    rows = EmptyRow(ModelState(), MasksState(mask="cross", row=8))
    assert rows.row == 7
    assert "leaves 5 of 10 rows no key; shown is row 8 (“PAD”)" in rows.sentence()
    rows = EmptyRow(ModelState(), MasksState(row=3))
    assert "row 3 (“barked”) was emptied here" in rows.sentence()


def test_a_mask_that_hides_everything_leaves_no_other_row():
    state = MasksState(paint="~h" + "_".join(f"{q}.{k}" for q in range(1, 11) for k in range(1, 11)))
    rows, spread = panels(ModelState(), state)
    assert not rows.others
    assert set(rows.table()["other rows, from ours"]) == {"there are none"}
    assert "No row has a key" in spread.sentence()
    assert spread.nans(INFINITE) == [0, 10, 10, 10]


def test_the_mechanism_is_told_with_its_numbers():
    sentence = NanSpreads(ModelState(causal=False), MasksState(mask="")).sentence()
    assert "its key and value are NaN for all who may look at it" in sentence
    assert "others by up to" in sentence
    sentence = NanSpreads(ModelState(num_layers=1), MasksState()).sentence()
    assert "There is no second layer" in sentence
    sentence = NanSpreads(ModelState(architecture="encoder-decoder"), MasksState(place="cross")).sentence()
    assert "the decoder looks at its own text" in sentence


def test_one_key_one_row_and_several_rows_are_told_as_such():
    rows, spread = panels(ModelState(architecture="encoder-decoder", target="🦊"), MasksState(place="decoder", mask=""))
    assert "a weight of 1 on the only key" in rows.sentence()
    assert "NaN in 1 of 1 row after layer 1" in spread.sentence()
    _, spread = panels(ModelState(causal=False), MasksState(mask="cross"))
    sentence = (
        "Hiding the rows from others does not help: in layer 2 (head 1) 5 rows that may not look there give them a"
    )
    assert sentence in spread.sentence()


def test_long_texts_are_run_on_their_beginning():
    model = ModelState(text="@alice", seq_len=1024)
    rows = EmptyRow(model, MasksState())
    assert len(rows.queries) == READ_UP_TO
    assert "first 128 of 1024 places" in rows.aside()
    assert EmptyRow(replace(model, seq_len=12), MasksState()).aside() == ""
