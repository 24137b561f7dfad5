"""Summaries of heads, beside loops over rows, and ties: all that rounding alone tells from the best."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer, TransformerConfig
from tfm_core.study import analysis
from tfm_core.study.ties import ROUNDING, ties

OF_A_ROW = {  # what a row of weights adds to the mean; None for a row that does not count
    "entropy": lambda query, row: -sum(weight * math.log(weight) for weight in row if weight),
    "mean_distance": lambda query, row: sum(weight * abs(query - key) for key, weight in enumerate(row)),
    "weight_on_self": lambda query, row: row[query],
    "weight_on_previous": lambda query, row: row[query - 1] if query else None,
    "weight_on_first": lambda query, row: row[0],
}
every_summary = pytest.mark.parametrize("name", OF_A_ROW)


@every_summary
@given(queries=st.integers(1, 8), keys=st.integers(1, 8), loudness=st.floats(0, 200))
def test_each_map_of_many_has_the_mean_over_its_rows(name, queries, keys, loudness):
    keys = keys if name in ("entropy", "weight_on_first") else queries  # the others mean self-attention
    weights = (torch.randn(2, 3, queries, keys) * loudness).softmax(-1)
    weights[:, :, 0] = 0  # a query with nothing to attend to
    summary = getattr(analysis, name)(weights)
    assert summary.shape == (2, 3)
    for each, got in zip(weights.flatten(0, 1).tolist(), summary.flatten().tolist(), strict=True):
        rows = [OF_A_ROW[name](query, row) for query, row in enumerate(each)]
        counted = [row for row in rows if row is not None]
        assert got == pytest.approx(sum(counted) / max(1, len(counted)), rel=1e-4, abs=1e-6)
        assert got >= -1e-6


def test_no_entropy_is_written_with_a_minus_sign():
    for weights in (torch.ones(1, 1), torch.eye(6), torch.zeros(2, 2)):
        assert f"{analysis.entropy(weights).item():.2f}" == "0.00"


@every_summary
def test_summaries_of_long_texts_have_the_digits_that_are_written(name):
    weights = (2 * torch.randn(2, 1024, 1024, generator=torch.Generator().manual_seed(0))).softmax(-1)
    summary = getattr(analysis, name)
    torch.testing.assert_close(summary(weights).double(), summary(weights.double()), rtol=2e-6, atol=0)


def test_every_summary_is_tested():
    ours = {name for name, thing in vars(analysis).items() if getattr(thing, "__module__", "") == analysis.__name__}
    assert ours == {*OF_A_ROW, "peaks", "Peaks", "mean_by_distance", "ByDistance"}


@given(rows=st.integers(1, 5), keys=st.integers(1, 7), seed=st.integers(0, 99))
def test_peaks_are_the_two_largest_of_each_row(rows, keys, seed):
    weights = torch.rand(2, rows, keys, generator=torch.Generator().manual_seed(seed)).softmax(-1)
    peaks, largest = analysis.peaks(weights), F.pad(weights, (0, 1)).topk(2).values
    assert torch.equal(peaks.first, largest[..., 0])
    assert torch.equal(peaks.second, largest[..., 1])
    assert torch.equal(weights.gather(-1, peaks.key[..., None])[..., 0], peaks.first)


@given(size=st.integers(1, 9), seed=st.integers(0, 99), share=st.floats(0, 1))
def test_the_mean_of_each_distance_is_that_of_its_diagonal(size, seed, share):
    numbers = torch.Generator().manual_seed(seed)
    scores, visible = torch.randn(size, size, generator=numbers), torch.rand(size, size, generator=numbers) < share
    diagonals = {d: scores.double().diagonal(-d)[visible.diagonal(-d)] for d in range(1 - size, size)}
    known = {distance: values for distance, values in diagonals.items() if len(values)}
    means = analysis.mean_by_distance(scores, visible)
    assert means.distance.tolist() == list(known)
    assert means.pairs.tolist() == [len(values) for values in known.values()]
    assert means.mean.tolist() == pytest.approx([values.mean().item() for values in known.values()])


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
