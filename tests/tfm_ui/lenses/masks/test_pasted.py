"""Masks from elsewhere: what people paste and upload is read, guessed and described; nothing is executed."""

import io
import json
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tfm_core import causal_mask
from tfm_ui.lenses.masks.conventions.mask_text import SIDE, read_text
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.conventions.pasted_guess import ADDED, facts, guess, mask_of, odd_values
from tfm_ui.lenses.masks.conventions.uploads import name_of
from tfm_ui.lenses.masks.state import UploadName

CAUSAL = causal_mask(3)
MASKS = arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def npy(values, **how) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **how)
    return file.getvalue()


def minus_inf(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


FORMS = {
    "torch": repr,
    "torch, float": lambda mask: repr(mask.float()),
    "torch, on a device": lambda mask: repr(mask.float())[:-1] + ", device='cuda:0', dtype=torch.float16)",
    "assigned": lambda mask: f"mask = torch.{mask!r}",
    "numpy": lambda mask: repr(mask.numpy()),
    "numpy, printed": lambda mask: str(mask.numpy()),
    "json": lambda mask: json.dumps(mask.tolist()),
    "numbers": lambda mask: json.dumps(mask.int().tolist()),
    "csv": lambda mask: "\n".join(",".join("01"[cell] for cell in row) for row in mask.tolist()),
    "csv, words": lambda mask: "\r\n".join(",".join(map(str, row)) for row in mask.tolist()),
    "quoted": lambda mask: "\n".join(",".join(f'"{cell:d}"' for cell in row) for row in mask.tolist()),
    "semicolons": lambda mask: "\n".join(";".join("01"[cell] for cell in row) for row in mask.tolist()),
    "tabs": lambda mask: "\n".join("\t".join("01"[cell] for cell in row) for row in mask.tolist()),
    "spaces": lambda mask: "\n".join("  ".join("01"[cell] for cell in row) for row in mask.tolist()) + "\n\n",
    "Matlab": lambda mask: "[" + "; ".join(" ".join("01"[cell] for cell in row) for row in mask.tolist()) + "]",
    "Matlab's statement": lambda mask: (
        "A = [" + ";\n".join(", ".join("01"[cell] for cell in row) for row in mask.tolist()) + "];"
    ),
    "one line": lambda mask: "; ".join(" ".join("01"[cell] for cell in row) for row in mask.tolist()),
    "digits": lambda mask: "\n".join("".join("01"[cell] for cell in row) for row in mask.tolist()),
    "four axes": lambda mask: repr(mask[None, None]),
    "three axes": lambda mask: repr(mask[None].int()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_what_people_paste_is_read(form):
    mask = torch.tensor([[True, False, True, False], [True, True, False, False], [False, True, True, True]])
    table = read_text(FORMS[form](mask))
    np.testing.assert_array_equal(table.values, mask.numpy())
    assert bool(table.notes) == ("axes" in form)
    words = ("torch", "assigned", "numpy", "numpy, printed", "json", "csv, words", "four axes")
    assert (table.kind == "booleans") == (form in words)


@pytest.mark.parametrize(
    "text",
    [
        repr(minus_inf(CAUSAL)),
        repr(minus_inf(CAUSAL).numpy()),
        repr(torch.zeros(3, 3).masked_fill(~CAUSAL, -1e9)),
        repr(torch.zeros(3, 3).masked_fill(~CAUSAL, torch.finfo(torch.float32).min)),
        "0 -inf -inf\n0 0 -inf\n0 0 0",
        "0,−∞,−∞\n0,0,−∞\n0,0,0",
        "[[0, -Infinity, -Infinity], [0, 0, -Infinity], [0, 0, 0]]",
    ],
)
def test_what_is_added_to_scores_is_read_as_such(text):
    table = read_text(text)
    assert guess(table)[0] == ADDED
    np.testing.assert_array_equal(mask_of(table, ADDED), CAUSAL.numpy())
    assert bool(odd_values(table, ADDED)) == ("e+" in text)


@given(MASKS)
def test_any_mask_comes_back_from_text_and_from_a_file(mask):
    for table in (read_text(repr(mask)), read_text(str(mask.astype(int).tolist())), read_file(npy(mask))):
        np.testing.assert_array_equal(table.values, mask)
        assert guess(table)[1]
        described(mask)
    wide = npy(np.asfortranarray(mask.astype(np.float16)[None, None]))
    np.testing.assert_array_equal(read_file(wide).values, mask)


def described(mask):
    said = facts(mask).sentence()
    assert f"{mask.shape[0]} × {mask.shape[1]}" in said
    assert ("without any key" in said or "hides everything" in said) == (not mask.any(1).all())


def refusal(read, raw) -> str:
    """The sentence that a bad one gets."""
    with pytest.raises(ValueError, match=r"[.?]$") as caught:
        read(raw)
    assert len(str(caught.value)) < 200
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing in it"),
        (" \n\t", "nothing in it"),
        ("[]", "nothing in it"),
        ("tensor([[], []])", "nothing in it"),
        ("1 0 0\n1 1\n1 1 1", "Row 2 has 2 entries, most rows have 3"),
        ("1 0\n1\n1 1\n1 1 1", "Row 2 has 1 entry, most rows have 2, and 1 more differs: a mask has equal rows."),
        ("[[1, 0], [1], [1, 1]]", "Row 2 has 1 entry"),
        ("1 0\nnan 1", "Row 2, entry 1 is NaN"),
        ("the cat", "Row 1, entry 1 is “the”"),
        ("[['a']]", "is “'a'”"),
        ("__import__('os').system('touch /tmp/x')", "a number, True or False was expected"),
        ("[__import__('os').system('touch /tmp/x')]", "a number, True or False was expected"),
        ("1j 0", "is “1j”"),
        ("9" * 500, "99…”"),
        ("[[1, 0, ..., 0]]", "shortened when it was printed"),
        ("[[1, 0], [1, 1]", "was it cut"),
        ("1], [0", "never opened"),
        ("[1] [0]", "more than one array"),
        ("[1, 0] 1 [0]", "more than one array"),
        ("[[1, 0], 1]", "outside of any row"),
        ("[1, [0, 1]]", "side by side"),
        ("[[1], [[1]]]", "lists of lists"),
        ("[[[1, 0]], [[1, 0], [1, 1]]]", "several tables"),
        ("[" * 99 + "1" + "]" * 99, "8 deep"),
        (repr(torch.ones(2, 4, 2, 3, 3)), "16 tables (2 × 4 × 2 × 3 × 3)"),
        ("1 " * 1025, "more than 1,024 entries"),
        ("1\n" * 1026, "1,026 rows"),
        ("[" + "[1]," * 1025 + "]", "more than 1,024 rows"),
        ("[" + "[1],\n" * 9000 + "]", "more than 1,024 rows"),
        ("0" * (9 * 2**20 + 1), "is the limit"),
        ("x" * 300 + "[1]" + "y" * 300, "more in it than one array"),
    ],
)  # fmt: skip
def test_bad_text_gets_a_sentence(text, said):
    assert said in refusal(read_text, text)


def header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def archive(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def zipped(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as whole:
        whole.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "nothing in it"),
        (npy(np.array([[1, None]]), allow_pickle=True), "Python objects"),
        (npy(np.ones((2, 2), complex)), "complex128"),
        (npy(np.array([["a"]])), "booleans or real numbers"),
        (npy(np.zeros(2, [("a", int)])), "booleans or real numbers"),
        (npy(np.ones((3, 3)))[:-1], "shorter than its header says"),
        (npy(np.array([[0, np.nan]])), "entry at 1, 2 is NaN"),
        (npy(np.ones((0, 3))), "nothing in it"),
        (npy(np.ones((1025, 2))), "It is 1,025 × 2"),
        (npy(np.ones((3, 2, 2, 2, 2))), "12 tables"),
        (header("(1000000000, 1000000000)"), "1,000,000,000 × 1,000,000,000"),
        (header("(-1, 4)"), "-1 × 4"),
        (header("(2, 2)"), "shorter"),
        (header("(2, 'a')"), "header cannot be read"),
        (header("(True, 5,)") + bytes(400), "cannot be read"),
        (b"0,0;-1,0\n0,0;0,0", "Row 1 has both , and ; in it"),
        (header("(2, 2)", "__import__('os')"), "header cannot be read"),
        (header("(" * 60), "header cannot be read"),
        (b"\x93NUMPY", "header cannot be read"),
        (b"\x93NUMPY\x09\x00", "header cannot be read"),
        (archive(a=np.ones(3), b=np.ones(3)), "holds 2 arrays (“a”, “b”)"),
        (archive(a=np.array([[1, None]])), "Python objects"),
        (archive(a=np.zeros((2000, 2000))), "more than 9,437,184 bytes"),
        (archive(a=np.ones(3))[:-30], "archive cannot be read"),
        (zipped("archive/data.pkl", pickle.dumps([[1]])), "archive without an array"),
        (zipped("mask.npy", pickle.dumps([[1]])), "cannot be read"),
        (b"PK\x03\x04", "archive cannot be read"),
        (pickle.dumps([[1]]), "pickle"),
        (b"\xff\xfe\x00\x01", "neither .npy nor text"),
        (b"1 0\x00", "zero bytes"),
        (b"0" * (9 * 2**20 + 1), "is the limit"),
        ("id;näme\n1;b".encode(), "Row 1, entry 2 is “b”"),
    ],
)  # fmt: skip
def test_bad_files_get_a_sentence(data, said):
    assert said in refusal(read_file, data)


def tried(read, raw):
    """What was read; every refusal is a sentence."""
    with suppress(ValueError):
        return read(raw)
    refusal(read, raw)


@given(st.text(max_size=60) | st.text("[]01,; \n.-infTrue", max_size=60))
def test_any_text_is_read_or_gets_a_sentence(text):
    if table := tried(read_text, text):
        assert table.values.size
        assert not np.isnan(table.values).any()


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x93NUMPY\x01\x00", header("(2, 2)")]))
def test_any_bytes_are_read_or_get_a_sentence(data, before):
    tried(read_file, before + data)


def test_the_largest_are_read():
    mask = causal_mask(SIDE)
    text = "\n".join(",".join("01"[cell] for cell in row) for row in mask.tolist())
    for table in (read_file(text.encode()), read_file(npy(mask.double().numpy()))):
        assert facts(mask_of(table, guess(table)[0])).causal


def test_the_link_of_an_upload_holds_a_digest_alone():
    digest = name_of(b"1 0", "Ada")
    assert UploadName("x").read(digest, "") == (digest, "")
    assert UploadName("x").read("", "") == ("", "")
    assert UploadName("x").read("../etc", "")[0] == ""


@pytest.mark.parametrize(
    ("text", "rows"), [("[1;0]", [[1], [0]]), ("[1 0;0 1;]", [[1, 0], [0, 1]]), ("[1 0;]", [[1, 0]])]
)
def test_a_semicolon_ends_a_row_within_brackets(text, rows):
    np.testing.assert_array_equal(read_text(text).values, rows)


def test_rows_of_other_lengths_within_brackets_are_told():
    with pytest.raises(ValueError, match="Row 2 has 1 entry, most rows have 2"):
        read_text("[1 0; 1; 0 1]")
