"""Masks, each beside a naive double loop that says its definition in another way: True means "may attend"."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import (
    MASKS,
    causal_mask,
    combine_masks,
    cross_mask,
    document_mask,
    either_mask,
    global_mask,
    padding_mask,
    prefix_mask,
    strided_mask,
    to_additive,
    to_ignore,
    window_mask,
)

lengths = st.integers(1, 14)
numbers = st.integers(1, 8)


def documents(i, j, keys, lengths):
    of = [document for document, length in enumerate(lengths) for _ in range(length)]
    first, second = ((of[place] if place < len(of) else len(lengths)) if place >= 0 else 0 for place in (i, j))
    return first == second


def in_stride(i, j, keys, stride):
    return j in range(i - stride + 1, i + stride) or j in range(i % stride, max(keys, i) + stride, stride)


# Each mask, values of its argument, and whether query i sees key j of so many keys.
DEFINITIONS = {
    "diagonal": (causal_mask, st.integers(0, 4), lambda i, j, keys, diagonal: j <= i + diagonal),
    "window": (window_mask, numbers, lambda i, j, keys, window: j in range(i - window + 1, i + window)),
    "stride": (strided_mask, numbers, in_stride),
    "tokens": (global_mask, st.lists(st.integers(0, 20), max_size=4), lambda i, j, keys, tokens: {i, j} & {*tokens}),
    "prefix": (prefix_mask, st.integers(0, 8), lambda i, j, keys, prefix: j <= i or j < prefix),
    "lengths": (document_mask, st.lists(numbers, max_size=4), documents),
}


@pytest.mark.parametrize("argument", DEFINITIONS)
@given(lengths, lengths, st.data())
def test_each_query_sees_the_keys_of_the_definition(argument, queries, keys, data):
    """Places are counted from the first key, with the last query beside the last key."""
    make, values, sees = DEFINITIONS[argument]
    value = data.draw(values)
    mask = make(queries, keys, **{argument: value})
    places = range(keys - queries, keys)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[bool(sees(i, j, keys, value)) for j in range(keys)] for i in places]
    assert torch.equal(make(queries, **{argument: value}), make(queries, queries, **{argument: value}))
    assert torch.equal(causal_mask(queries, keys), causal_mask(queries, keys, diagonal=0))


@pytest.mark.parametrize("root", [4, 8, 16, 32])
def test_a_stride_of_the_root_leaves_about_n_root_n_pairs_and_others_more(root):
    n = root * root
    kept = [int((strided_mask(n, stride=stride) & causal_mask(n)).sum()) / (n * root) for stride in (root, 3, n // 2)]
    assert 1 <= kept[0] <= 1.5
    assert root < 32 or min(kept[1:]) > 5
    assert "√" not in MASKS["strided"].about  # what is said of it holds of any stride


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=3))
def test_real_tokens_look_at_real_tokens(rows):
    queries, keys = torch.tensor(rows), torch.tensor(rows)[:, :3]
    mask = cross_mask(queries, keys)
    assert mask.shape == (len(rows), 1, 4, 3)
    assert mask[:, 0].tolist() == [[[q != 0 and k != 0 for k in row[:3]] for q in row] for row in rows]


@pytest.mark.parametrize(("combine", "allows"), [(either_mask, any), (combine_masks, all)])
@given(rows=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_or_allows_what_any_mask_allows_and_and_what_all_do(combine, allows, rows):
    masks = [torch.tensor(row) for row in rows]
    assert combine(*masks).tolist() == [allows(column) for column in zip(*rows, strict=True)]
    assert either_mask(*masks, None) is None  # which hides nothing
    assert torch.equal(combine_masks(None, *masks, None), combine_masks(*masks))
    assert either_mask() is combine_masks(None) is None


@pytest.mark.parametrize("pad_id", [0, 3])
def test_nobody_looks_at_padding(pad_id):
    mask = padding_mask(torch.tensor([[3, 0, 5], [0, 0, 3]]), pad_id)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[t != pad_id for t in row] for row in [[3, 0, 5], [0, 0, 3]]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_additive_is_zero_where_a_pair_may_attend_and_minus_infinity_where_not_and_ignore_is_the_opposite(dtype):
    additive = to_additive(torch.tensor([True, False]), dtype)
    assert additive.dtype == dtype
    assert additive.tolist() == [0.0, -math.inf]
    assert to_ignore(torch.tensor([True, False])).tolist() == [False, True]


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("query_len", "key_len"), [(1, 1), (7, 7), (3, 8), (8, 3)])
def test_every_entry_makes_a_mask_of_token_ids(name, query_len, key_len):
    queries, keys = torch.ones(2, query_len, dtype=torch.int64), torch.ones(2, key_len, dtype=torch.int64)
    keys[1, -1] = 0
    entry = MASKS[name]
    mask = entry.mask(queries, keys)
    assert mask.dtype == torch.bool
    assert mask.expand(2, 1, query_len, key_len).shape == (2, 1, query_len, key_len)
    assert entry.about.endswith(".")
    assert entry.source
    assert [argument.several for argument in entry.arguments[:-1]] == [False] * (len(entry.arguments) - 1)
    given = [(argument.low,) if argument.several else argument.low for argument in entry.arguments]
    assert entry.mask(queries, keys, *given).dtype == torch.bool
    assert not math.isnan(mask.float().mean())
