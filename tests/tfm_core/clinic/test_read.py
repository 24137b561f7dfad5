"""Masks as people have them: what libraries write is read, with its meaning and the reason; what is open is said."""

import io
import json
import zipfile
from collections import Counter
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import save

from tests.tfm_core.clinic.corpus import (
    CAUSAL,
    CORPUS,
    REFUSED,
    RIGHT,
    WRONG,
    counted,
    drawing,
    npy,
    npz,
    outcome,
    weights,
)
from tfm_core.clinic import read, reading_as
from tfm_core.clinic.reading import MEANINGS
from tfm_core.clinic.table import SIDE
from tfm_core.clinic.words import BadWord, read_words, split


@pytest.mark.parametrize("name", CORPUS)
def test_what_people_have_is_read_rightly_or_refused_with_the_reason(name):
    assert outcome(CORPUS[name]) == (RIGHT if CORPUS[name].meaning else REFUSED)


def test_a_wrong_answer_would_be_counted():
    assert counted() == Counter({RIGHT: sum(case.meaning is not None for case in CORPUS.values()), REFUSED: 7})
    case = CORPUS["npy, booleans"]
    assert outcome(type(case)(case.data, "ignore", visible=15)) == WRONG
    assert outcome(type(case)(case.data, "attend", visible=20)) == WRONG
    assert outcome(type(case)(case.data, None)) == WRONG


def lines_of(mask, between="", ends="\n"):
    return ends.join(between.join("01"[cell] for cell in row) for row in mask.tolist())


WRITERS = {
    "npy": npy,
    "npz": lambda mask: npz(np.savez_compressed, mask=mask),
    "safetensors": lambda mask: save({"mask": mask}),
    "torch": lambda mask: repr(torch.from_numpy(mask)),
    "NumPy": repr,
    "NumPy, printed": lambda mask: str(mask.astype(int)),
    "lists": lambda mask: repr(mask.tolist()),
    "JSON": lambda mask: json.dumps({"mask": mask.tolist()}),
    "pandas": lambda mask: pd.DataFrame(mask).to_csv(),
    "pandas, tabs": lambda mask: pd.DataFrame(mask.astype(int)).to_csv(sep="\t").encode("utf-16"),
    "pandas, printed": lambda mask: pd.DataFrame(mask.astype(int)).to_string(),
    "pandas, JSON": lambda mask: pd.DataFrame(mask).to_json(orient="split"),
    "commas": lambda mask: lines_of(mask, ","),
    "spaces": lambda mask: lines_of(mask, "  ", "\r\n"),
    "Matlab": lambda mask: f"[{lines_of(mask, ' ', '; ')}]",
    "squares": lambda mask: drawing("■", "⬚", " ", mask),
    "ticks": lambda mask: drawing("✓", "✗", "", mask),
}


@given(arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7))), st.sampled_from(sorted(WRITERS)))
def test_any_mask_comes_back_from_every_writer(mask, name):
    # In rows of commas or spaces, 0 and 1 above a square are names of its columns.
    assume(mask.shape != (3, 2) or name not in ("commas", "spaces"))
    reading = read(WRITERS[name](mask))
    np.testing.assert_array_equal(reading.tables[0], mask)
    assert reading.why
    assert reading.meaning == reading.alternatives[0]
    np.testing.assert_array_equal(reading_as(reading, "attend").visible[0], mask)
    np.testing.assert_array_equal(reading_as(reading, "ignore").visible[0], ~mask)


@given(arrays(np.float32, (4, 5), elements=st.floats(-20, 20, width=32)))
def test_numbers_come_back_to_the_last_digit(values):
    for data in (npy(values), json.dumps(values.tolist()), pd.DataFrame(values).to_csv(), save({"x": values})):
        table = read(data).tables[0]
        np.testing.assert_array_equal(table.astype(np.float32), values)


DECIMALS = st.from_regex(r"[+-]?([0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9})([eE][+-]?[0-9]{1,2})?", fullmatch=True)


@given(st.lists(DECIMALS, min_size=1, max_size=5))
def test_words_are_the_numbers_that_python_reads(some):
    many = some * 40  # so many that words written alike are read together
    values, kind = read_words(split("\n".join(many).encode(), b"\n"))
    np.testing.assert_array_equal(values, [float(word) for word in many])
    is_whole = all(word.lstrip("+-").isdigit() for word in many)
    assert (kind == "whole numbers") == is_whole


@given(st.data())
def test_a_word_that_is_no_number_is_named_wherever_it_stands(data):
    words = 40 * data.draw(st.lists(DECIMALS, min_size=2, max_size=4))
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] = data.draw(st.sampled_from(["cat", "1_0", "0x1", "--1", "1e", "nan", "1,5", "9" * 400, "1e999"]))
    with pytest.raises(BadWord) as caught:
        read_words(split("\n".join(words).encode(), b"\n"))
    assert caught.value.index == at


SIGNS = "[](){}01,;:|\"'\n .-_infTrue■⬚x\ud800\0\x1b"


@given(st.text(max_size=60) | st.text(SIGNS, max_size=60) | st.binary(max_size=90))
def test_anything_is_read_or_refused_in_a_sentence(data):
    with suppress(ValueError):
        reading = read(data)
        assert reading.meaning in MEANINGS
        return
    with pytest.raises(ValueError, match=r"^[A-Z“].*[.?]$") as caught:
        read(data)
    str(caught.value).encode()  # no half of a character that no page could show


def unpacks_to(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mask.npy", b"\x93NUMPY\x01\x00" + bytes(size))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("[" * 10_000 + "1" + "]" * 10_000, "8 deep"),
        ('{"mask": ' + "[" * 10_000 + "]" * 10_000 + "}", "8 deep|object"),
        ("(" * 10_000 + ")" * 10_000, "8 deep"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "object with “a”"),
        ("9" * 1_000_000, "float64 can hold"),
        ("[[1, " + "9" * 1_000_000 + "]]", "Row 1, column 2"),
        ("1 1e999999\n0 0", "Row 1, column 2 is “1e999999”"),
        ("1 0\0", "zero bytes"),
        ("\ud800", "Row 1, column 1"),
        ('"' + "a" * 200_000 + '",1\n"b",1', "CSV"),
        (unpacks_to(50_000_000), "which is the limit"),
        ("1 " * 1_000_000, "has 1,000,000 columns"),
        ("[{" * 100_000, "32,768 records"),
        ("■ ⬚\n■", "Row 2 of the drawing has 1 signs"),
        ("tensor([[1, 0, ..., 0]])", "set_printoptions"),
        (b"\x89PNG\r\n", "picture"),
        (b"\x1f\x8b\x08", "gzip"),
    ],
)
def test_what_nobody_means_is_refused(data, said):
    with pytest.raises(ValueError, match=said):
        read(data)


def test_of_what_is_too_large_the_beginning_is_read_and_that_is_said():
    mask = np.tri(SIDE + 176, dtype=bool)
    text = "\n".join(" ".join("01"[cell] for cell in row) for row in mask.tolist())
    for data in (npy(mask), text, text.replace(" ", ",")):
        reading = read(data)
        np.testing.assert_array_equal(reading.tables[0], mask[:SIDE, :SIDE])
        assert any("1,200 × 1,200, of which the first 1,024 × 1,024" in note for note in reading.notes)
    many = read(npy(np.random.default_rng(0).random((1500, 2, 2)) < 0.5))
    assert len(many.tables) == len(many.names) == 1024
    assert any("1,500 tables" in note for note in many.notes)


def test_floats_of_0_and_1_are_warned_of_as_torch_takes_them():
    reading = read(npy(np.tril(np.ones((6, 6), np.float32))))
    assert reading.alternatives == ("attend", "added")
    assert reading.why.startswith("It holds floats, and torch adds a float mask")
    added = reading_as(reading, "added")
    assert added.visible[0].all()
    assert "torch adds" in added.why
    query = torch.randn(3, 1, 6, 4)
    as_it_is = F.scaled_dot_product_attention(*query[:, None], attn_mask=torch.from_numpy(CAUSAL).float())
    meant = F.scaled_dot_product_attention(*query[:, None], attn_mask=torch.from_numpy(reading.visible[0]))
    causal = F.scaled_dot_product_attention(*query[:, None], is_causal=True)
    torch.testing.assert_close(meant, causal)
    assert not torch.allclose(as_it_is, causal)


def test_what_was_remarked_under_a_meaning_goes_with_it():
    reading = read("0 -1e9\n0 0")
    assert any("as good as −∞" in note for note in reading.notes)
    other = reading_as(reading, "attend")
    assert not any("as good as −∞" in note for note in other.notes)
    assert any("neither 0 nor 1" in note for note in other.notes)
    assert reading_as(other, "added").notes == reading.notes
    assert reading_as(reading, "weights").visible == []


def test_code_carries_what_is_wrong_in_it():
    reading = read("mask.float() * float('-inf')")
    assert any("NaN" in finding.title for finding in reading.findings)
    assert any("stands for" in note for note in reading.notes)
    literals = "tensor([[0., -inf]])", "torch.tensor([[1, 0]])", "np.array([[True]])", "m = torch.tensor([[1, 0]])"
    for literal in literals:
        assert read(literal).findings == ()
        assert not any("stands for" in note for note in read(literal).notes)


def test_heads_and_layers_are_named_in_the_order_of_the_file():
    values = np.random.default_rng(0).random((2, 3, 4, 5, 6))
    reading = read(npy(values))
    assert reading.names[0] == "layer 1 of 2, sentence 1 of 3, head 1 of 4"
    assert reading.names[5] == "layer 1 of 2, sentence 2 of 3, head 2 of 4"
    np.testing.assert_array_equal(reading.tables[5], values[0, 1, 1])
    heads = weights(3).numpy()
    moved = read(npy(np.moveaxis(heads, 0, 1)))  # (query, head, key)
    assert moved.meaning == "weights"
    np.testing.assert_array_equal(moved.tables, heads)
