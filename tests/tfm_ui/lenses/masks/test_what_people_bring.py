"""Masks as people have them in files: with names around them, as drawings, weights and archives; and our own files."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.tfm_ui.lenses.masks.test_pasted import MASKS, archive, npy, tried
from tests.tfm_ui.store.empty import empty_store
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours
from tfm_ui.lenses.masks.conventions.foreign import Foreign
from tfm_ui.lenses.masks.conventions.mask_text import read_text
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.conventions.pasted_guess import guess, mask_of, odd_values
from tfm_ui.lenses.masks.paint import whole
from tfm_ui.lenses.masks.state import ADDED, ATTEND, IGNORE, WEIGHTS, MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.csv_file import csv_of

CAUSAL = np.tri(6, dtype=bool)
WINDOW = CAUSAL & ~np.tri(6, k=-3, dtype=bool)
TOKENS = ["the", "cat", "sat", "[CLS]", "a,b", "7"]


def frame(mask, names=None):
    return pd.DataFrame(mask.astype(int), names, names)


WRITTEN = {
    "pandas, names of columns": lambda mask: frame(mask).to_csv(index=False),
    "pandas, names of both": lambda mask: frame(mask).to_csv(),
    "pandas, tokens": lambda mask: frame(mask, TOKENS).to_csv(),
    "pandas, tokens of columns": lambda mask: frame(mask, list("uvwxyz")).to_csv(index=False),
    "pandas, tabs": lambda mask: frame(mask, TOKENS).to_csv(sep="\t"),
    "pandas, semicolons": lambda mask: frame(mask).to_csv(sep=";"),
    "pandas, printed": lambda mask: frame(mask).to_string(),
    "pandas, booleans": lambda mask: pd.DataFrame(mask).to_csv(),
    "pandas, a name in the corner": lambda mask: frame(mask).rename_axis("query").to_csv(),
    "pandas, from 1": lambda mask: frame(mask, range(1, 7)).to_csv(),
    "names of rows": lambda mask: "\n".join(
        f"{name}, {', '.join(map(str, row))}" for name, row in zip("uvwxyz", mask.astype(int), strict=True)
    ),
}


@pytest.mark.parametrize("mask", [CAUSAL, WINDOW], ids=["causal", "window"])
@pytest.mark.parametrize("form", WRITTEN)
def test_names_around_a_table_are_left_out_and_named(form, mask):
    table = read_file(WRITTEN[form](mask).encode())
    np.testing.assert_array_equal(table.values, mask)
    assert "names (“" in table.notes[0]
    assert guess(table)[0] == ATTEND


@given(MASKS)
def test_whatever_pandas_writes_is_read(mask):
    for text in (pd.DataFrame(mask.astype(int)).to_csv(), pd.DataFrame(mask).to_csv()):
        np.testing.assert_array_equal(read_text(text).values, mask)


def test_a_row_of_numbers_is_no_row_of_names():
    distances = np.abs(np.arange(4)[:, None] - np.arange(4))  # its first row is 0, 1, 2, 3
    for values in (distances, -distances, distances[:2]):
        np.testing.assert_array_equal(read_text(pd.DataFrame(values).to_csv(index=False, header=False)).values, values)


DRAWN = "\n".join(
    f"{name:>4} {row}: {' '.join('■' if cell else '⬚' for cell in cells)}"
    for row, (name, cells) in enumerate(zip("the cat sat on [the mat".split(), WINDOW, strict=True))
)
COLOURED = " \x1b[92m■\x1b[0m: i == j (diagonal)   \x1b[93m■\x1b[0m: token_type_ids\n" + DRAWN.replace(
    "■", "\x1b[92m■\x1b[0m", 4
)


@pytest.mark.parametrize(
    "text",
    [
        DRAWN,
        COLOURED,
        "\n".join(f"{line}    |    {'⬚ ' * 6}" for line in DRAWN.splitlines()),
        "\n".join("".join("█░"[not cell] for cell in row) for row in WINDOW),
        "\n".join(" ".join("✓✗"[not cell] for cell in row) for row in WINDOW),
        "\n".join(" ".join("x."[not cell] for cell in row) for row in WINDOW),
    ],
)
def test_a_drawing_is_read(text):
    table = read_file(text.encode())
    np.testing.assert_array_equal(table.values, WINDOW)
    assert guess(table) == (ATTEND, "it is drawn: a filled sign, such as ■, stands where a query sees a key")
    assert bool(table.notes) == ("|" in text)


@given(st.text("■⬚ |:x.1\n\x1b[0m", max_size=40))
def test_any_drawing_is_read_or_gets_a_sentence(text):
    tried(read_text, text)


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
    assert guess(read_text(repr(torch.from_numpy(weights[0, 0, 0]))))[0] == WEIGHTS


def test_weights_are_drawn_as_numbers():
    weights = torch.randn(6, 6).softmax(-1)
    state = MasksState(pasted=repr(weights))
    header, numbers = Foreign.content(ModelState(), state)
    np.testing.assert_allclose(numbers.ravel()[:36].reshape(6, 6), weights, atol=1e-4)
    assert header["maps"][0]["unit"] == ""


def test_an_archive_of_one_array_is_read():
    np.testing.assert_array_equal(read_file(archive(attn_mask=CAUSAL)).values, CAUSAL)
    file = io.BytesIO()
    np.savez(file, CAUSAL)
    assert read_file(file.getvalue()).kind == "booleans"


ADDED_MIXED = """0.0 -10000.0 -65504.0 -1e9
-0.5 0.0 -9999.0 -inf
-1.0 -0.5 0.0 -3.4e38
-1.5 -1.0 -0.5 0.0
"""


def test_what_is_0_in_the_softmax_is_hidden_and_a_bias_stays():
    table = read_text(ADDED_MIXED)
    assert guess(table)[0] == ADDED
    np.testing.assert_array_equal(mask_of(table, ADDED), np.tri(4, dtype=bool))
    assert "−1.5, −1, −0.5 (6 cells) are neither 0 nor −∞: a bias" in odd_values(table, ADDED)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@given(values=arrays(np.float64, (3, 4), elements=st.floats(-1000, 0)))
def test_hidden_is_what_torchs_softmax_makes_0(precision, values):
    values = values.astype(precision)
    values[:, 0] = 0  # something to see in each row, as a softmax leaves no row empty
    weights = torch.softmax(torch.from_numpy(values), -1).numpy()
    mask = mask_of(read_file(npy(values)), ADDED)
    near = np.exp(values.astype(np.longdouble)) < 16 * np.finfo(precision).smallest_subnormal  # rounding may be theirs
    np.testing.assert_array_equal(mask[~near], weights[~near] > 0)
    assert (weights[~mask] == 0).all()


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
    assert guess(table) == (ATTEND, "the file says so itself")
    np.testing.assert_array_equal(mask_of(table, ATTEND), ours.mask[ours.at].numpy())
    written = csv_of(handed.table())
    read = read_file(written.encode())
    np.testing.assert_array_equal(read.values, handed.slice()[0])
    said = ours.convention.back(ours.handed, tuple(ours.mask.shape), model.num_heads)[ours.at].numpy()
    means = mask_of(read, guess(read)[0])
    ahead = np.tri(10, dtype=bool) if name == "HF, causal model" else True  # which that call adds by itself
    np.testing.assert_array_equal(np.broadcast_to(means & ahead, said.shape), said)
    again = Foreign(model, replace(state, pasted=written)).table()
    np.testing.assert_array_equal(mask_of(read_file(csv_of(again).encode()), ATTEND), means)
