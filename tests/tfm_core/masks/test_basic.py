"""Masks: True means "may attend", everywhere."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import causal_mask, combine_masks, padding_mask, to_additive, to_ignore

lengths = st.integers(1, 12)


@given(lengths, lengths)
def test_the_last_query_sees_the_last_key_and_nobody_looks_ahead(query_len, key_len):
    mask = causal_mask(query_len, key_len)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[k - key_len <= q - query_len for k in range(key_len)] for q in range(query_len)]


def test_causal_mask_is_square_by_default():
    assert torch.equal(causal_mask(5), causal_mask(5, 5))
    assert causal_mask(2).tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("pad_id", [0, 3])
def test_nobody_looks_at_padding(pad_id):
    mask = padding_mask(torch.tensor([[3, 0, 5], [0, 0, 3]]), pad_id)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[t != pad_id for t in row] for row in [[3, 0, 5], [0, 0, 3]]]


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=4))
def test_combined_masks_allow_what_every_mask_allows(rows):
    masks = [torch.tensor(row) for row in rows]
    combined = combine_masks(None, *masks, None)
    if not rows:
        assert combined is None
    else:
        assert combined.tolist() == [all(column) for column in zip(*rows, strict=True)]


def test_combining_broadcasts():
    padding = padding_mask(torch.tensor([[1, 1, 0], [1, 0, 0]]))
    combined = combine_masks(causal_mask(3), padding)
    assert combined.shape == (2, 1, 3, 3)
    assert combined[1, 0].tolist() == [[True, False, False]] * 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_additive_is_zero_where_a_pair_may_attend_and_minus_infinity_where_not(dtype):
    additive = to_additive(torch.tensor([True, False]), dtype)
    assert additive.dtype == dtype
    assert additive.tolist() == [0.0, -math.inf]


def test_ignore_is_the_opposite():
    assert to_ignore(torch.tensor([True, False])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: causal_mask(0), ["at least 1", "query_len=0"]),
        (lambda: causal_mask(3, 0), ["at least 1", "key_len=0"]),
        (lambda: padding_mask(torch.tensor([1, 0])), ["(batch, key)", "(2,)"]),
        (lambda: combine_masks(causal_mask(2).float()), ["torch.bool", "torch.float32"]),
        (lambda: to_additive(torch.ones(2)), ["torch.bool", "torch.float32"]),
        (lambda: to_ignore(torch.ones(2, dtype=torch.int64)), ["torch.bool", "torch.int64"]),
        (lambda: combine_masks(causal_mask(2), causal_mask(3)), ["(2, 2)", "(3, 3)"]),
    ],
    ids=["no query", "no key", "one sentence", "float", "additive of floats", "ignore of integers", "two sizes"],
)
def test_bad_masks_are_refused(call, parts):
    with pytest.raises(ValueError, match="expected") as error:
        call()
    assert all(part in str(error.value) for part in parts)
