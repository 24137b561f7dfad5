"""Masks from elsewhere: what people paste and upload is read, guessed and described; nothing is executed."""

import io
import json
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tfm_core import causal_mask, document_mask, window_mask
from tfm_core.clinic.facts import Facts
from tfm_core.clinic.files import read_file
from tfm_core.clinic.meaning import guess, mask_of, odd_values
from tfm_core.clinic.table import SIDE
from tfm_core.clinic.text import read_text

ATTEND, IGNORE, ADDED = "attend", "ignore", "added"
CAUSAL = causal_mask(3)
MASKS = arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def best(table) -> tuple[str, str]:
    """The likeliest meaning and its reason."""
    return next(iter(guess(table).items()))


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
    assert best(table)[0] == ADDED
    np.testing.assert_array_equal(mask_of(table.values, ADDED, table.precision), CAUSAL.numpy())
    assert bool(odd_values(table.values, table.precision, ADDED)) == ("e+" in text)


@given(MASKS)
def test_any_mask_comes_back_from_text_and_from_a_file(mask):
    for table in (read_text(repr(mask)), read_text(str(mask.astype(int).tolist())), read_file(npy(mask))):
        np.testing.assert_array_equal(table.values, mask)
        assert best(table)[1]
        described(mask)
    wide = npy(np.asfortranarray(mask.astype(np.float16)[None, None]))
    np.testing.assert_array_equal(read_file(wide).values, mask)


def described(mask):
    sentence = Facts(mask).sentence()
    assert f"{mask.shape[0]} × {mask.shape[1]}" in sentence
    assert ("without any key" in sentence or "hides everything" in sentence) == (not mask.any(1).all())


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
        ("[1 0; 1; 0 1]", "Row 2 has 1 entry, most rows have 2"),
        ("1 0\nnan 1", "Row 2, column 1 is NaN"),
        ("the cat", "Row 1, column 1 is “the”"),
        ("[['a']]", "is “a”"),
        ("__import__('os').system('touch /tmp/x')", "not among what a mask is read from"),
        ("[__import__('os').system('touch /tmp/x')]", "a number, True or False was expected"),
        ("1j 0", "is “1j”"),
        ("9" * 500, "99…”"),
        ("[[1, 0, ..., 0]]", "Parts are missing"),
        ("[[1, 0], [1, 1]", "was it cut"),
        ("1], [0", "never opened"),
        ("[1] [0]", "more than one array"),
        ("[1, 0] 1 [0]", "more than one array"),
        ("[[1, 0], 1]", "outside of any row"),
        ("[1, [0, 1]]", "side by side"),
        ("[[1], [[1]]]", "lists of lists"),
        ("[[[1, 0]], [[1, 0], [1, 1]]]", "several tables"),
        ("[" * 99 + "1" + "]" * 99, "8 deep"),
        (repr(torch.ones(2, 2, 2, 2, 3, 3)), "the shape 2 × 2 × 2 × 2 × 3 × 3; at most (layer, sentence, head,"),
        ("1\n" * 200_000, "more than 131,072 lines"),
        ("[" + "[1]," * 140_000 + "]", "more than 131,072 lists"),
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
        (npy(np.array([[0, np.nan]])), "Row 1, column 2 is NaN"),
        (npy(np.ones((0, 3))), "nothing in it"),
        (npy(np.ones((3, 2, 2, 2, 2, 2))), "at most (layer, sentence, head, query, key)"),
        (header("(1000000000, 1000000000)"), "1,000,000,000 × 1,000,000,000"),
        (header("(-1, 4)"), "-1 × 4"),
        (header("(2, 2)"), "shorter"),
        (header("(2, 'a')"), "header cannot be read"),
        (header("(True, 5,)") + bytes(400), "axes were expected"),
        (b"0,0;-1,0\n0,0;0,0", "Row 1, column 1 is “0,0”, with , and ; in the row"),
        (header("(2, 2)", "__import__('os')"), "header cannot be read"),
        (header("(" * 60), "header cannot be read"),
        (b"\x93NUMPY", "header cannot be read"),
        (b"\x93NUMPY\x09\x00", "header cannot be read"),
        (archive(a=np.ones(3), b=np.ones(3)), "holds 2 arrays (“a”, “b”)"),
        (archive(a=np.array([[1, None]])), "Python objects"),
        (archive(a=np.zeros((2000, 2000))), "more than 9,437,184 bytes"),
        (archive(a=np.ones(3))[:-30], "archive cannot be read"),
        (zipped("archive/data.pkl", pickle.dumps([[1]])), "archive without an array"),
        (zipped("mask.npy", pickle.dumps([[1]])), "is no array"),
        (b"PK\x03\x04", "archive cannot be read"),
        (pickle.dumps([[1]]), "pickle"),
        (b"\xfe\xfd\x00\x01", "neither an array nor text"),
        (b"1 0\x00", "zero bytes"),
        (b"0" * (9 * 2**20 + 1), "is the limit"),
        ("id;näme\n1;b".encode(), "Row 1, column 2 is “b”"),
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
        assert Facts(mask_of(table.values, best(table)[0], table.precision)).causal


@pytest.mark.parametrize(
    ("text", "rows"), [("[1;0]", [[1], [0]]), ("[1 0;0 1;]", [[1, 0], [0, 1]]), ("[1 0;]", [[1, 0]])]
)
def test_a_semicolon_ends_a_row_within_brackets(text, rows):
    np.testing.assert_array_equal(read_text(text).values, rows)


# what a table from elsewhere is taken for, and what is said of it

LOWER, UPPER = CAUSAL.numpy(), np.triu(np.ones((4, 4), bool), 1)


@pytest.mark.parametrize(
    ("values", "way", "why"),
    [
        (LOWER, ATTEND, "the diagonal and below"),
        (LOWER.astype(int), ATTEND, "1 stands only on the diagonal and below"),
        (UPPER, IGNORE, "above the diagonal"),
        (UPPER.astype(float), IGNORE, "nn.MultiheadAttention"),
        (np.tril(np.ones((4, 4), bool), -1), ATTEND, "below the diagonal"),
        (window_mask(5, window=2).numpy(), ATTEND, "the diagonal is True throughout"),
        (~window_mask(5, window=2).numpy(), IGNORE, "the diagonal is False throughout"),
        (document_mask(5, lengths=[2]).numpy(), ATTEND, "the diagonal is True"),
        (np.ones((3, 3), bool), ATTEND, "all is True"),
        (np.zeros((3, 3), bool), IGNORE, "all is False"),
        (np.zeros((3, 3)), ADDED, "all is 0"),
        (np.array([[1, 1, 0, 0]]), ATTEND, "padding at the end is hidden"),
        (np.array([[True, True, False], [True, False, False]]), ATTEND, "padding at the end"),
        (np.array([[False, False, True], [False, True, True]]), IGNORE, "key_padding_mask"),
        (np.array([[0, 0, 1], [0, 1, 1]]), ATTEND, "padding at the beginning"),
        (np.array([[1, 1, 1, 1], [1, 1, 0, 0]]), ATTEND, "in no row does 1 stand after a 0"),
        (np.array([[False] * 4, [False, False, True, True]]), IGNORE, "where True stands, it stands last"),
        (np.tri(3, 6, 3, dtype=bool), ATTEND, "a causal mask, with keys of the past"),
        (~np.tri(3, 6, 3, dtype=bool), IGNORE, "a causal mask, with keys of the past"),
        (np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1]]), ATTEND, "1 stands only on or below the diagonal"),
        (np.array([[0, 0.5], [0, 0]]), ADDED, "other numbers than 0 and 1"),
        (np.array([[0, -1e9], [0, 0]]), ADDED, "such as −1e+09"),
        (np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]]), ATTEND, "1 query would see nothing"),
        (np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]]), IGNORE, "1 query would see nothing"),
        (np.array([[0, 1], [1, 1]]), ATTEND, "1 query would see nothing"),
        (np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0]]), ATTEND, "nothing in it tells"),
        (np.array([[1, 0, 1], [0, 1, 1]]), ATTEND, "nothing in it tells"),
    ],
)  # fmt: skip
def test_conventions_are_guessed_with_the_reason(values, way, why):
    table = read_file(npy(values))
    assert best(table)[0] == way
    assert why in best(table)[1]


@given(MASKS)
def test_facts_against_naive_loops(mask):
    rows, columns = mask.shape
    about = Facts(mask)
    assert about.causal == all(not mask[i, j] for i in range(rows) for j in range(columns) if j > i + columns - rows)
    if rows == columns:
        bounds = [0, *np.cumsum(about.blocks)]
        assert bounds[-1] == rows
        block = [next(k for k, end in enumerate(bounds[1:]) if i < end) for i in range(rows)]
        assert all(block[i] == block[j] for i in range(rows) for j in range(rows) if mask[i, j])
        for cut in range(1, rows):  # no finer parts
            apart = not mask[:cut, cut:].any() and not mask[cut:, :cut].any()
            assert apart == (cut in bounds)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (causal_mask(4), "Causal: nobody looks ahead."),
        (causal_mask(4, diagonal=1), "Not causal: 3 pairs look ahead."),
        (causal_mask(2, diagonal=1), "Not causal: 1 pair looks ahead."),
        (causal_mask(4, diagonal=-1), "Strictly lower triangular: nobody sees itself, or what comes later. Row 1"),
        (~torch.eye(3).bool(), "The diagonal is hidden: nobody sees itself."),
        (document_mask(5, lengths=[2, 3]), "Block-diagonal: 2 blocks of 2, 3 tokens"),
        (document_mask(5, lengths=[2, 3]) & causal_mask(5), "Block-diagonal: 2 blocks of 2, 3 tokens"),
        (torch.eye(3).bool(), "Diagonal: everybody sees at most itself."),
        (torch.tensor([[True, False]]), "Taken as padding: a row of keys for all queries."),
        (torch.tensor([[True, True, False], [True, False, False]]), "Taken as padding: a row of keys per sentence."),
        (causal_mask(2, 5), "No query looks ahead."),
        (torch.tensor([[True, False], [True, True], [False, True]]), "Some queries look ahead."),
        (torch.tensor([True, True, False]).expand(3, 3), "All rows are alike"),
        (torch.zeros(3, 3).bool(), "0 of 9 pairs kept (0%). No row has any key: it hides everything."),
        (torch.zeros(9, 9).bool() | (torch.arange(9) < 3)[:, None], "Rows 4, 5, 6, 7 and 2 more without any key."),
        (torch.tensor([[True, True], [True, False]]), "Not causal: 1 pair looks ahead. 1 token cannot see itself."),
        (torch.eye(4).bool() & (torch.arange(4) < 2), "Causal: nobody looks ahead. 2 tokens cannot see themselves."),
    ],
)  # fmt: skip
def test_what_is_said_of_a_mask(mask, said):
    assert said in Facts(mask.numpy()).sentence()


@pytest.mark.parametrize(
    ("values", "way", "said"),
    [
        ([[0, -np.inf]], ADDED, ""),
        ([[0, -1e9]], ADDED, "−1e+09 (1 cell) is as good as −∞, and taken as hidden, because e to its"),
        ([[0, -1000, -745, -746]], ADDED, "−1000, −746 (2 cells) are as good as −∞"),
        ([[0, -1000, -745, -746]], ADDED, "−745 (1 cell) is neither 0 nor −∞"),
        ([[0, 0.5, -3]], ADDED, "−3, 0.5 (2 cells) are neither 0 nor −∞: a bias, and taken as seen."),
        ([[0, np.inf]], ADDED, "∞ (1 cell) is what makes every weight of its row NaN"),
        ([[0, 0.5, 1]], ATTEND, "0.5 (1 cell) is neither 0 nor 1, and taken as 1."),
        ([[2, 3, 4, 5, 6, 7, 8, 1]], IGNORE, "2, 3, 4, 5, 6, 7 and 1 more value (7 cells) are neither"),
        ([[0, 1]], IGNORE, ""),
    ],
)  # fmt: skip
def test_values_beyond_the_convention_are_named(values, way, said):
    said_of_it = odd_values(np.array(values, float), "float64", way)
    assert said in said_of_it
    assert bool(said_of_it) == bool(said)


@given(MASKS)
def test_readings_are_opposites_and_agree_with_torch(mask):
    table = read_file(npy(mask))
    attend, ignore = (mask_of(table.values, way, "float64") for way in (ATTEND, IGNORE))
    np.testing.assert_array_equal(attend, ~ignore)
    added = read_file(npy(minus_inf(torch.from_numpy(mask)).numpy()))
    assume(not mask.all())
    np.testing.assert_array_equal(mask_of(added.values, best(added)[0], added.precision), mask)
