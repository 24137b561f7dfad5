"""Masks as people have them in files: with names around them, as drawings, weights and archives."""

import io

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.tfm_core.clinic.test_read_text import MASKS, archive, best, npy, tried
from tfm_core.clinic.files import read_file
from tfm_core.clinic.meaning import guess, mask_of, odd_values
from tfm_core.clinic.text import read_text

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
    assert best(table)[0] == "attend"


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
    assert list(guess(table)) == ["attend"]
    assert bool(table.notes) == ("|" in text)


@given(st.text("■⬚ |:x.1\n\x1b[0m", max_size=40))
def test_any_drawing_is_read_or_gets_a_sentence(text):
    tried(read_text, text)


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
    assert best(table)[0] == "added"
    np.testing.assert_array_equal(mask_of(table.values, "added", table.precision), np.tri(4, dtype=bool))
    assert "−1.5, −1, −0.5 (6 cells) are neither 0 nor −∞: a bias" in odd_values(table.values, table.precision, "added")


@pytest.mark.parametrize("precision", ["float32", "float64"])
@given(values=arrays(np.float64, (3, 4), elements=st.floats(-1000, 0)))
def test_hidden_is_what_torchs_softmax_makes_0(precision, values):
    values = values.astype(precision)
    values[:, 0] = 0  # something to see in each row, as a softmax leaves no row empty
    weights = torch.softmax(torch.from_numpy(values), -1).numpy()
    table = read_file(npy(values))
    mask = mask_of(table.values, "added", table.precision)
    near = np.exp(values.astype(np.longdouble)) < 16 * np.finfo(precision).smallest_subnormal  # rounding may be theirs
    np.testing.assert_array_equal(mask[~near], weights[~near] > 0)
    assert (weights[~mask] == 0).all()
