"""Masks as people have them in files: with names around them, as drawings, weights and archives; and our own files."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.tfm_core.clinic.test_read_text import best, npy
from tests.tfm_ui.store.empty import empty_store
from tfm_core.clinic.files import read_file
from tfm_core.clinic.meaning import mask_of
from tfm_core.clinic.text import read_text
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours
from tfm_ui.lenses.masks.conventions.foreign import Foreign
from tfm_ui.lenses.masks.state import ADDED, IGNORE, WEIGHTS, MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.paint import whole
from tfm_ui.text.csv_file import csv_of

CAUSAL = np.tri(6, dtype=bool)
WINDOW = CAUSAL & ~np.tri(6, k=-3, dtype=bool)


def shown(data: bytes, **state) -> Foreign:
    """What the lens says of an uploaded file."""
    panel = Foreign(ModelState(), MasksState(pasted="", upload="a", **state))
    with empty_store(uploads):
        uploads.keep("a", "Ada", read_file(data))
        assert panel.is_there, panel.brought
    return panel


def test_floats_of_0_and_1_are_said_to_be_added_by_torch():
    data = npy(np.tril(np.ones((6, 6), np.float32)))
    sentence = shown(data).sentence()
    assert "torch adds a float mask" in sentence
    assert "“.bool()” is missing" in sentence
    assert "scaled_dot_product_attention" not in sentence  # which reads only booleans so
    query, key, value = torch.randn(3, 1, 6, 4)
    handed = torch.nn.functional.scaled_dot_product_attention(query, key, value, torch.tril(torch.ones(6, 6)))
    hidden = torch.nn.functional.scaled_dot_product_attention(query, key, value, torch.tril(torch.ones(6, 6)).bool())
    assert not torch.allclose(handed, hidden)
    assert shown(data, read_as=ADDED).mask.all()
    for other in (npy(CAUSAL), npy(CAUSAL.astype(int))):
        assert "torch adds" not in shown(other).sentence()


def test_weights_are_told_by_their_rows_and_a_layer_and_head_is_chosen():
    weights = torch.randn(2, 1, 3, 6, 6).masked_fill(~torch.tensor(CAUSAL), -torch.inf).softmax(-1).numpy()
    for layer, head in ((1, 1), (2, 3)):
        result = shown(npy(weights), pasted_layer=layer, pasted_head=head)
        assert result.reading == WEIGHTS
        assert result.brought.stack == (2, 3)
        np.testing.assert_array_equal(result.read.values, weights[layer - 1, 0, head - 1])
        np.testing.assert_array_equal(result.mask, CAUSAL)
        assert f"this is layer {layer} of 2, head {head} of 3" in result.sentence()
        assert "Causal: nobody looks ahead" in result.sentence()
    result = shown(npy(weights[:, 0, 0]), pasted_layer=64, pasted_head=64)
    np.testing.assert_array_equal(result.read.values, weights[1, 0, 0])
    assert best(read_text(repr(torch.from_numpy(weights[0, 0, 0]))))[0] == "weights"


def test_weights_are_drawn_as_numbers():
    weights = torch.randn(6, 6).softmax(-1)
    state = MasksState(pasted=repr(weights))
    header, numbers = Foreign.content(ModelState(), state)
    np.testing.assert_allclose(numbers.ravel()[:36].reshape(6, 6), weights, atol=1e-4)
    assert header["maps"][0]["unit"] == ""


def test_a_query_that_sees_nothing_does_not_turn_the_reading_round():
    ignored = ~CAUSAL
    ignored[3] = True
    result = shown(npy(ignored))
    assert result.reading == IGNORE
    assert int(result.mask.sum()) == 17
    assert "Row 4 without any key" in result.sentence()
    assert "The other way round is possible" in result.sentence()


@given(mask=arrays(bool, (10, 10)), name=st.sampled_from(sorted(CONVENTIONS)))
def test_what_our_mask_writes_is_read_back(mask, name):
    """The law of all downloads of this view: each says what it holds, so that nothing has to be guessed."""
    model = ModelState(causal=False)
    state = MasksState(mask="", paint=whole(mask), item=1, convention=name, texts="")
    ours, handed = Ours(model, state), Handed(model, state)
    table = read_file(csv_of(ours.table()).encode())
    assert best(table) == ("attend", "the file says so itself")
    np.testing.assert_array_equal(mask_of(table.values, "attend", table.precision), ours.mask[ours.at].numpy())
    written = csv_of(handed.table())
    read = read_file(written.encode())
    np.testing.assert_array_equal(read.values, handed.slice()[0])
    said = ours.convention.back(ours.handed, tuple(ours.mask.shape), model.num_heads)[ours.at].numpy()
    means = mask_of(read.values, best(read)[0], read.precision)
    ahead = np.tri(10, dtype=bool) if name == "HF, causal model" else True  # which that call adds by itself
    np.testing.assert_array_equal(np.broadcast_to(means & ahead, said.shape), said)
    again = Foreign(model, replace(state, pasted=written)).table()
    np.testing.assert_array_equal(read_file(csv_of(again).encode()).values, means)
