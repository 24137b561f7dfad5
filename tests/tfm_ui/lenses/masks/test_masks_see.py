"""What the view "see" of the Masks lens says: why pairs are hidden, and what masks would save."""

import itertools
from dataclasses import replace
from math import isqrt

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tfm_core import MASKS, causal_mask
from tfm_ui.lenses.masks.above import masks_batch
from tfm_ui.lenses.masks.composition import combined, parse
from tfm_ui.lenses.masks.see import LENGTHS, Growth, See, block_size, empty_blocks, kept_by_length
from tfm_ui.lenses.masks.state import MasksState, about_batch, setting
from tfm_ui.lenses.masks.terms import PAINTS, Terms
from tfm_ui.state import paint as mask_paint
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.head_sentences import NO_CHOICE

PLACES = [
    (ModelState(), "decoder"),
    (ModelState(causal=False), "decoder"),
    (ModelState(architecture="decoder"), "decoder"),
    (ModelState(architecture="encoder-decoder"), "decoder"),
    (ModelState(architecture="encoder-decoder"), "cross"),
]
COMPOSITIONS = [
    "",
    *MASKS,
    "window 2 or global 1 3 and padding",
    "window 3 and padding or causal 1",
    "prefix 4 and documents 3 2 or strided 2",
    "padding and padding",
]


def of(model, mask, place="decoder", paint="", **more):
    return setting(model, MasksState(mask=mask, place=place, paint=paint, **more))


@pytest.mark.parametrize("mask", COMPOSITIONS)
@pytest.mark.parametrize(("model", "place"), PLACES)
def test_a_pair_is_hidden_by_those_masks_that_do_not_let_it_see(model, place, mask):
    now = of(model, mask, place)
    terms = Terms(now)
    masks = [*terms.masks, *([] if terms.back is None else [terms.back])]
    for (query, key), code in np.ndenumerate(terms.reasons()):
        by = [i for i in range(len(masks)) if code // PAINTS >> i & 1]
        assert bool(by) is not bool(now.composed[query, key])
        assert not any(masks[i][query, key] for i in by)
        # were all of them to let it see, it might attend
        ways = [terms.terms[i].how for i in range(len(terms.terms))]
        may_attend = True
        for i, how in enumerate(ways):
            lets = bool(masks[i][query, key]) or i in by
            may_attend = (may_attend and lets) if how == "and" or not i else (may_attend or lets)
        assert may_attend
        assert terms.back is None or terms.back[query, key] or len(terms.terms) in by


@pytest.mark.parametrize("mask", COMPOSITIONS)
@pytest.mark.parametrize(("model", "place"), PLACES)
def test_what_changes_nothing_can_be_left_out_of_the_link(model, place, mask):
    now = of(model, mask, place)
    terms = Terms(now)
    for i, term in enumerate(terms.terms):
        rest = [other for j, other in enumerate(terms.terms) if j != i]
        left = combined(
            [type(term)("and", rest[0].name, rest[0].values), *rest[1:]] if rest else [],
            now.queries.batch,
            now.keys.batch,
        )
        left = left & causal_mask(*left.shape) if now.causal_anyway else left
        assert (i in terms.idle) == torch.equal(left, now.composed)
    assert all(f"“{terms.terms[i]}”" in terms.notes() for i in terms.idle)
    assert bool(terms.notes()) == bool(terms.idle)


def test_what_only_looks_ahead_says_why_it_cannot():
    assert (
        "only says who may look ahead, and nobody may: causality is on by the sidebar’s switch"
        in Terms(of(ModelState(), "prefix 3")).notes()
    )
    assert "causality is built into the decoder" in Terms(of(ModelState(architecture="decoder"), "causal 2")).notes()
    assert Terms(of(ModelState(causal=False), "prefix 3")).notes() == ""
    assert Terms(of(ModelState(), "padding")).notes() == ""
    assert "“padding” changes nothing for this sentence" in Terms(of(ModelState(), "padding", item=1)).notes()


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=9)), st.integers(1, 10))
def test_empty_blocks_beside_a_naive_loop(mask, size):
    left_out = 0
    for row, column in itertools.product(range(0, mask.shape[0], size), range(0, mask.shape[1], size)):
        block = mask[row : row + size, column : column + size]
        left_out += 0 if block.any() else block.size
    assert empty_blocks(mask, size) == left_out / mask.size


def test_blocks_are_those_of_flex_attention_where_the_text_is_long():
    assert [block_size(n) for n in (1, 2, 10, 16, 31, 64, 100, 256, 1024)] == [2, 2, 2, 2, 2, 8, 8, 32, 128]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", COMPOSITIONS)
def test_pairs_by_length_are_those_of_real_masks(mask, causal):
    for length, kept in [*kept_by_length(mask, causal=causal).items()][:5]:
        ids = torch.full((1, length), 5)
        real = combined(parse(mask)[0], ids, ids)
        real = real & causal_mask(length) if causal else real
        assert kept == int(real.sum())


def test_strided_attention_with_its_stride_at_the_root_grows_like_n_root_n():
    result = Growth(ModelState(), MasksState(mask="strided 3"))
    for n, kept in zip(LENGTHS, result.strided, strict=True):
        assert 0.5 < kept / (n * isqrt(n)) < 1.6
    assert 3.8 < result.composed[-1] / result.composed[-2] < 4.1
    assert "it would be 4×, with n √n 2.83×" in result.sentence()
    empty = Growth(ModelState(), MasksState(mask="documents 1 and global 1 and strided 1"))
    assert "the pairs stay as many;" in empty.sentence()


def test_the_sentence_says_what_is_kept_moved_and_left_without_a_key():
    result = See(ModelState(causal=False), MasksState(mask="window 3", item=1))
    assert result.sentence().startswith("44 of 100 pairs kept. Of the rows that may look at two tokens or more, “")
    moved = np.abs(result.obeyed.weights - torch.from_numpy(result.obeyed.scores).softmax(-1).numpy())
    query, key = np.unravel_index(moved.argmax(), moved.shape)
    assert f"“{result.names[0][query]}” → “{result.names[1][key]}”" in result.sentence()
    assert f"{result.obeyed.weights[query, key]:.2f} with it" in result.sentence()
    hidden = mask_paint.packed(np.full((10, 10), mask_paint.HIDE, np.uint8))
    none = See(ModelState(), MasksState(mask="", paint=hidden))
    assert "0 of 100 pairs kept. Nobody sees anything: all weights are 0." in none.sentence()
    assert all(none.laws().values())
    assert none.painted == (0, 100)
    everything = See(ModelState(causal=False), MasksState(mask=""))
    assert "Nothing is hidden" in everything.sentence()
    first_hidden = See(ModelState(), MasksState(mask="", item=1, paint="1x1.TAg"))
    assert "Without any key: “the”; its weights are all 0." in first_hidden.sentence()
    cross = See(ModelState(causal=False), MasksState(mask="cross"))
    assert "Without any key: 5 rows of padding; their weights are all 0." in cross.sentence()


@pytest.mark.parametrize("mask", ["", "padding", "window 2", "strided 2", "prefix 2", "documents 1 3"])
@pytest.mark.parametrize("text", ["the cat sat", "it"])
def test_a_row_without_a_choice_is_no_headline_and_neither_is_padding(mask, text):
    result = See(ModelState(text=text, seq_len=6), MasksState(mask=mask, item=1))
    tokens = len(result.setting.queries.pieces)
    choice = np.flatnonzero(result.obeyed.mask[:tokens].sum(1) > 1)
    moved = np.abs(result.obeyed.weights - torch.from_numpy(result.obeyed.scores).softmax(-1).numpy())
    if not len(choice):
        assert NO_CHOICE in result.sentence()
    elif moved[choice].max() > 1e-6:
        row = choice[moved[choice].max(1).argmax()]
        assert f"or more, “{result.names[0][row]}” → “" in result.sentence()
    else:
        assert "no weight differs" in result.sentence()


def test_the_table_holds_every_pair_and_why_it_is_hidden():
    result = See(ModelState(), MasksState(mask="padding", paint="1x2.TBw"))
    table = result.table()
    assert len(table) == 100
    assert table["may attend"].sum() == result.obeyed.mask.sum()
    assert set(table["why"]) >= {"", "hidden by padding", "hidden by causality (the sidebar’s switch)"}
    np.testing.assert_array_equal(table["weight"], result.obeyed.weights.ravel())


def test_the_table_of_a_large_mask_leaves_out_what_is_hidden():
    result = See(ModelState(text="@alice", seq_len=300), MasksState(mask="window 2", item=1))
    assert len(result.table()) == result.obeyed.mask.sum() == 599
    np.testing.assert_allclose(result.table().groupby("query", observed=True)["weight"].sum(), 1, atol=1e-6)


def test_a_mask_may_hide_all_of_a_large_text():
    result = See(ModelState(text="@alice", seq_len=300), MasksState(mask="global 1000", item=1))
    assert result.table().empty
    assert result.sentence().startswith("0 of 90,000 pairs kept. Nobody sees anything")
    assert Growth(result.model, result.state).sentence().startswith("No pair is kept of a text of 512 tokens. Of 1")


def test_the_batch_stands_as_the_view_reads_it():
    model, state = ModelState(), MasksState(view="padding", pad_side="left")
    assert masks_batch(model, state)[0]["left"]
    assert not masks_batch(model, replace(state, view="see"))[0]["left"]
    assert not masks_batch(model, replace(state, pad_side="right"))[0]["left"]
    assert [row["pads"] for row in masks_batch(model, state)[0]["rows"]] == [0, 5]


def test_a_batch_says_what_is_left_out():
    model = ModelState()
    assert about_batch(model, MasksState()) == ""
    assert "there is no sentence 5, the last one is shown" in about_batch(model, MasksState(item=5))
    assert "only the sidebar’s sentence" in about_batch(model, MasksState(texts="\n \n"))
    assert "of the 9 lines the first 7 are taken" in about_batch(model, MasksState(texts="a\n" * 9))
