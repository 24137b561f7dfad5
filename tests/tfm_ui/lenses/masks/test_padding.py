"""A sentence alone and in its batch: the masks beside naive loops, the runs beside a model called by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import MASKS, Transformer
from tfm_ui.lenses.masks.padding.alone import Alone
from tfm_ui.lenses.masks.padding.amounts import ByAmount
from tfm_ui.lenses.masks.padding.beside import AMOUNTS, TITLES, run_beside, runs
from tfm_ui.lenses.masks.padding.padded import among_tokens, batch_of, ids, laid, most_places, real
from tfm_ui.lenses.masks.padding.pictures import masks_padding, masks_padding_weights
from tfm_ui.lenses.masks.padding.shares import ROUNDING
from tfm_ui.lenses.masks.padding.weights import Weights
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
    return run_beside(model, MasksState(**state))


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
    text = batch.setting.model.source_tokens
    mask = laid(batch.setting, side, words=True, pads=pads)
    rows = real(text, side, pads)
    assert mask.shape == (5 + pads, 5 + pads)
    assert torch.equal(mask[rows, rows], among_tokens(batch.setting))
    laid_out = ids(text, side, pads)[0]
    assert laid_out[rows].tolist() == list(text.ids[:5])
    assert not laid_out.index_fill(0, torch.arange(5 + pads)[rows], 0).any()


@all_models
def test_what_is_run_alone_is_the_sentence_alone_and_the_batch_is_a_batch(model, state):
    beside = run_beside(model, state)
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
        end = runs(batch)["with"].streams[-1]
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
    said = Alone(beside).sentence()
    assert ("No token looks ahead" in said) == harmless
    assert ("hidden, they change nothing but the last digits" in said) == (not by_place and not harmless)
    assert (f"where the {positional} position vectors are different" in said) == by_place
    assert list(Alone(beside).laws().values()) == [not by_place, harmless]
    assert beside.may_look == (not harmless)
    assert (Weights(beside).onto > 0).all() == (not harmless)


def test_by_amount_without_padding_nothing_moves_and_the_present_amount_is_among_them():
    beside = run()
    assert set(beside.amounts) == {*AMOUNTS, 5}
    assert max(beside.amounts[0]) < ROUNDING
    assert beside.amounts[5][1] == pytest.approx(beside.largest("without"), rel=1e-3)
    assert all(hidden < ROUNDING < 0.1 < free for count, (hidden, free) in beside.amounts.items() if count)
    assert "From 1 PAD to 64 the largest move" in ByAmount(beside).sentence()


def test_a_sentence_without_padding_has_nothing_to_hide():
    beside = run(item=1)
    assert "fills all of its 10 places" in Alone(beside).sentence()
    assert Alone(beside).laws() == {}
    assert "no key is padding" in Weights(beside).sentence()
    assert Weights(beside).laws() == {}


def test_a_decoder_that_reads_another_text_is_not_padded():
    beside = run(ModelState(architecture="encoder-decoder"), place="decoder")
    assert beside.harmless
    assert "look at “cross”" in Alone(beside).sentence()
    assert not len(beside.open_columns)


def test_a_mask_that_keeps_tokens_from_padding_by_itself():
    beside = run(mask="documents 5")
    assert beside.harmless
    assert "lets no token look at PAD" in Alone(beside).sentence()
    assert "nobody may look at the 5 PADs" in Weights(beside).sentence()


def test_the_head_on_screen():
    weights = Weights(run(layer=2, head=3))
    maps = weights.maps
    assert np.isnan(maps["alone"][:, 5:]).all()
    assert np.isnan(maps["with"][:, 5:]).all()
    np.testing.assert_allclose(maps["with"][:, :5], maps["alone"][:, :5], atol=1e-6)
    np.testing.assert_allclose(maps["without"].sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(weights.onto, maps["without"][:, 5:].sum(-1), atol=1e-6)
    header, numbers = masks_padding_weights(FREE, MasksState(layer=2, head=3))
    assert np.isposinf(numbers[0, :, 5:]).all()
    assert np.isnan(numbers[1, :, 5:]).all()
    assert [named["name"] for named in header["maps"]] == ["Alone", "Padding hidden", "Padding not hidden"]


def test_rounding_is_not_blown_up_by_the_scale():
    assert masks_padding(ModelState(), MasksState())[0]["maps"][0]["high"] == 1
    assert masks_padding(FREE, MasksState())[0]["maps"][0]["high"] == pytest.approx(0.82, abs=0.01)


@pytest.mark.parametrize("side", SIDES)
def test_large_tables_are_pooled_and_absent_padding_stays_absent(side):
    model = replace(FREE, seq_len=600, text="@alice", num_layers=1)
    beside = run(model, texts=" ".join("word" for _ in range(300)), pad_side=side)
    _, numbers = masks_padding_weights(model, beside.state)
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
    assert "1 PAD after 1 token" in Alone(beside).sentence()
    assert "the one PAD takes" in Weights(beside).sentence()
    assert run(replace(FREE, seq_len=2), texts="").batch.pads == 0


@all_models
def test_scripts_give_these_numbers(model, state):
    beside = run_beside(model, state)
    left: dict[str, object] = {}
    exec(Alone(beside).recipe(), left)
    for way, shares in left["shares"].items():
        np.testing.assert_allclose(torch.stack(shares), beside.shares[way], atol=1e-5)
    exec(Weights(beside).recipe(), left := {})
    for way, weights in beside.weights.items():
        np.testing.assert_allclose(left["weights"][way], weights, atol=1e-6)
    exec(ByAmount(beside).recipe(), left := {})
    assert {pads: pytest.approx(moves, abs=1e-5) for pads, moves in left["moves"].items()} == beside.amounts


def test_tables_hold_what_is_shown():
    beside = run()
    table = Alone(beside).table()
    assert list(table.index) == ["the", "dog", "barked", "at", "me"]
    assert table["Padding not hidden, output"].max() == pytest.approx(beside.largest("without"))
    assert len(ByAmount(beside).table()) == len(beside.amounts)
    assert Weights(beside).table().shape == (15, 10)
