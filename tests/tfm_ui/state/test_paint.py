"""Painted cells: packed, read, and put over a mask."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tfm_ui.state.paint import SIDE, Paint, packed, painted, resized, unpacked, whole

FIELD = Paint("Painted")
cells = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=20), elements=st.integers(0, 2))


@given(cells)
def test_what_is_packed_is_unpacked(drawn):
    text = packed(drawn)
    assert np.array_equal(resized(unpacked(text), *drawn.shape), drawn)
    assert FIELD.read(text, "") == (text, "")
    assert packed(np.pad(drawn, ((0, 3), (0, 2)))) == text  # what is bare at the end counts for nothing


@given(cells, arrays(np.bool_, (12, 9)))
def test_paint_lies_over_the_mask(drawn, mask):
    result = painted(mask, drawn)
    for (q, k), below in np.ndenumerate(mask):
        cell = drawn[q, k] if q < drawn.shape[0] and k < drawn.shape[1] else 0
        assert result[q, k] == (below if cell == 0 else cell == 1)


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=20)), st.booleans())
def test_a_mask_painted_all_over_is_itself_whatever_lies_below(mask, below):
    assert np.array_equal(painted(np.full(mask.shape, below), unpacked(whole(mask))), mask)


def test_the_largest_is_compact():
    numbers = np.random.default_rng(0)
    assert len(whole(numbers.random((SIDE, SIDE)) < 0.5)) < 700  # a bit each
    assert len(packed(numbers.integers(0, 3, (SIDE, SIDE)).astype(np.uint8))) < 1110  # 8 of 5 cells' 243 states
    assert len(whole(np.tri(SIDE, dtype=bool))) < 150


def test_strokes_are_packed():
    text, reason = FIELD.read("~s1.2_2.3~h4.4~s4.1~u4.1", "")
    assert reason == ""
    expected = np.zeros((4, 4), np.uint8)
    expected[0, 1] = expected[1, 2] = 1
    expected[3, 3] = 2
    assert np.array_equal(unpacked(text), expected)
    assert FIELD.read(f"{text}~u1.2_2.3~u4.4", "") == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "x", "🦊", "0x4.TAA", "4x4.TAA", "64x64.tAAAA", "65x2.TAAAA", "4x4.Q", "~s0.1", "~s65.1", "~s1.65", "~s1",
        "~x1.1", "2x2.B" + "A" * 5000, "4x4.b" + "_" * 30, "2x2.T" + "A" * 7, "~s1.1 ", "~s\u0663.1", "99x99.tAAAA",
    ],
)  # fmt: skip
def test_what_cannot_be_read_leaves_what_was_there(text):
    assert FIELD.read(text, "4x4.TAwMAAg") == ("4x4.TAwMAAg", "it cannot be read; what was painted is left out")


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    value, reason = FIELD.read(text, "")
    assert reason or np.array_equal(unpacked(value), resized(unpacked(text), *unpacked(value).shape))
