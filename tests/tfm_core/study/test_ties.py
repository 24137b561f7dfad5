"""Ties: all that rounding alone tells from the best."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer, TransformerConfig
from tfm_core.study.ties import ROUNDING, ties

VALUES = st.lists(st.floats(-10, 10), min_size=1, max_size=8)


@given(values=VALUES, off=st.floats(0, 2), smallest=st.booleans())
def test_ties_are_what_a_loop_finds(values, off, smallest):
    table = torch.tensor(values, dtype=torch.float64)
    best = min(values) if smallest else max(values)
    expected = [i for i, value in enumerate(values) if (value <= best + off if smallest else value >= best - off)]
    assert ties(table, off, smallest=smallest).tolist() == expected


def test_what_is_nan_is_no_entry_and_of_none_there_is_no_tie():
    assert ties(torch.tensor([[torch.nan, 2.0], [2.0, 1.0]]), 0.5).tolist() == [1, 2]
    assert ties(torch.tensor([torch.nan]), 1.0).tolist() == ties(torch.zeros(0), 1.0).tolist() == []


@pytest.mark.parametrize("sizes", [(32, 4, 2), (256, 16, 8)])
def test_rounding_is_more_than_float32_changes_in_a_pass(sizes):
    d_model, heads, layers = sizes
    tokens = torch.randint(1000, (1, 64))
    single = Transformer(TransformerConfig(vocab_size=1000, d_model=d_model, num_heads=heads, num_layers=layers)).eval()
    with torch.no_grad():
        rounded, exact = single(tokens), single.double()(tokens)
    off = ((rounded - exact).abs().max() / exact.abs().max()).item()
    assert 0 < off < ROUNDING / 2  # of two numbers that are compared, each may be so wrong
