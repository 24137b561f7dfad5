"""Summaries of heads, on maps whose numbers are known, and ties: all that rounding alone tells from the best."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer, TransformerConfig
from tfm_core.study import analysis
from tfm_core.study.ties import ROUNDING, ties

N = 6
UNIFORM = torch.full((N, N), 1 / N)
SELF = torch.eye(N)
FIRST = torch.zeros(N, N).index_fill_(1, torch.tensor([0]), 1.0)
PREVIOUS = torch.diag(torch.ones(N - 1), -1) + torch.diag(torch.tensor([1.0] + [0.0] * (N - 1)))

EXPECTED = {  # uniform, itself, first, previous
    "entropy": [math.log(N), 0, 0, 0],
    "mean_distance": [35 / 18, 0, 2.5, 5 / 6],
    "weight_on_self": [1 / N, 1, 1 / N, 1 / N],
    "weight_on_previous": [1 / N, 0, 1 / 5, 1],
    "weight_on_first": [1 / N, 1 / N, 1, 2 / N],
}
every_summary = pytest.mark.parametrize("name", EXPECTED)


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_what_is_known_of_four_maps(name, expected):
    maps = torch.stack([UNIFORM, SELF, FIRST, PREVIOUS])
    assert getattr(analysis, name)(maps).tolist() == pytest.approx(expected, abs=1e-6)


def test_no_entropy_is_written_with_a_minus_sign():
    for weights in (torch.ones(1, 1), SELF, torch.zeros(2, 2)):
        assert f"{analysis.entropy(weights).item():.2f}" == "0.00"


@every_summary
def test_summaries_of_long_texts_have_the_digits_that_are_written(name):
    weights = (2 * torch.randn(2, 1024, 1024, generator=torch.Generator().manual_seed(0))).softmax(-1)
    summary = getattr(analysis, name)
    torch.testing.assert_close(summary(weights).double(), summary(weights.double()), rtol=2e-6, atol=0)


def test_every_summary_is_tested():
    ours = {name for name, thing in vars(analysis).items() if getattr(thing, "__module__", "") == analysis.__name__}
    assert ours == {*EXPECTED, "peaks", "Peaks", "mean_by_distance", "ByDistance"}


@every_summary
def test_a_map_alone_is_worth_what_it_is_worth_among_others(name):
    maps = torch.rand(2, 3, 5, 5).softmax(-1)
    summary = getattr(analysis, name)
    assert summary(maps).shape == (2, 3)
    assert summary(maps[1, 2]).item() == pytest.approx(summary(maps)[1, 2].item(), abs=1e-6)


@every_summary
@given(size=st.integers(1, 8), loudness=st.floats(0, 200))
def test_summaries_are_finite_and_within_their_bounds(name, size, loudness):
    weights = (torch.randn(size, size) * loudness).softmax(-1)
    weights[0] = 0  # a query with nothing to attend to
    largest = {"entropy": math.log(size), "mean_distance": size - 1}.get(name, 1)
    assert -1e-6 <= getattr(analysis, name)(weights).item() <= largest + 1e-5


@pytest.mark.parametrize(("name", "expected"), [("entropy", math.log(8)), ("weight_on_first", 1 / 8)])
def test_summaries_of_cross_attention_average_over_the_queries(name, expected):
    assert getattr(analysis, name)(torch.full((3, 8), 1 / 8)).item() == pytest.approx(expected, abs=1e-6)


def test_a_single_token_has_no_previous_one():
    assert analysis.weight_on_previous(torch.ones(4, 1, 1)).tolist() == [0.0] * 4


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
