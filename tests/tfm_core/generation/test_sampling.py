"""Sampling: the same cuts as transformers' warpers, the frequencies that the probabilities say, and laws."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Sampling, draw, next_token
from tfm_core.generation.sampling import random_number, rank_at

VOCAB = 40

numbers = st.floats(-30, 30, width=32)
ties = st.integers(-3, 3).map(float)  # few values, so that many tokens are equally likely
rows = st.one_of(st.lists(numbers, min_size=1, max_size=30), st.lists(ties, min_size=1, max_size=30))
samplings = st.builds(
    Sampling,
    temperature=st.floats(0.05, 5),
    top_k=st.integers(0, 35),
    top_p=st.floats(0.01, 1),
    min_p=st.floats(0, 1),
    greedy=st.booleans(),
    seed=st.integers(0, 99),
)
positions = st.integers(0, 10_000)


def random_logits(seed, vocab=VOCAB):
    return torch.randn(vocab, generator=torch.Generator().manual_seed(seed)) * 2


def warped(logits, sampling):
    """What transformers makes of the logits, -inf where cut; in float64, as ours."""
    from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    warpers = [TemperatureLogitsWarper(float(sampling.temperature))]
    warpers += [TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []
    warpers += [TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []
    warpers += [MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []
    scores, after = logits.double()[None], []
    for warper in warpers:
        scores = warper(None, scores)
        after.append(scores[0])
    return after


@pytest.mark.crossed(temperature=[0.3, 1, 2.5], top_k=[0, 1, 7, 400], top_p=[0.001, 0.5, 0.9, 1], min_p=[0, 0.05, 1])
def test_cuts_and_probabilities_are_those_of_transformers_warpers(temperature, top_k, top_p, min_p):
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    active = [name for name, on in (("top_k", top_k), ("top_p", top_p < 1), ("min_p", min_p)) if on]
    for seed in range(8):
        logits = random_logits(seed)
        drawn, after = draw(logits, sampling), warped(logits, sampling)
        assert torch.allclose(drawn.scaled, after[0], atol=1e-12)
        assert torch.equal(drawn.kept, after[-1].isfinite())
        assert torch.allclose(drawn.final, after[-1].softmax(0), atol=1e-12)
        for name, (earlier, later) in zip(active, pairwise(after), strict=True):
            assert torch.equal(drawn.cut[name], earlier.isfinite() & ~later.isfinite()), name
        for name in drawn.cut.keys() - set(active):
            assert not drawn.cut[name].any()


@given(rows, samplings)
def test_ties_at_the_border_of_top_k_all_stay_as_in_transformers(row, sampling):
    sampling, logits = replace(sampling, greedy=False, top_p=1.0, min_p=0.0), torch.tensor(row)
    assert torch.equal(draw(logits, sampling).kept, warped(logits, sampling)[-1].isfinite())


@pytest.mark.parametrize(
    ("sampling", "count"),
    [
        (Sampling(top_k=0), 3_000),
        (Sampling(top_k=0, temperature=2.0, seed=5), 3_000),
        (Sampling(temperature=0.7, top_k=12), 3_000),
        (Sampling(top_k=0, top_p=0.8, seed=1), 3_000),
        (Sampling(top_k=0, min_p=0.1, seed=2), 3_000),
        (Sampling(temperature=1.5, top_k=20, top_p=0.95, min_p=0.02, seed=3), 10_000),  # all of it together, closely
    ],
)
def test_tokens_are_drawn_as_often_as_their_probabilities_say(sampling, count):
    logits = random_logits(1)
    expected = draw(logits, sampling).final * count
    counts = torch.bincount(
        torch.tensor([next_token(logits, sampling, position) for position in range(count)]), minlength=VOCAB
    )
    assert not counts[expected == 0].any()
    rare = expected < 5  # together in a single class, as the test wants classes of at least 5
    classes = [*zip(counts[~rare].tolist(), expected[~rare].tolist(), strict=True)]
    classes += [(int(counts[rare].sum()), float(expected[rare].sum()))] if expected[rare].sum() >= 5 else []
    statistic = sum((got - wanted) ** 2 / wanted for got, wanted in classes)
    freedom = torch.tensor(len(classes) - 1.0)
    p_value = float(torch.special.gammaincc(freedom / 2, torch.tensor(statistic / 2)))
    assert 0.01 < p_value < 0.99


def test_neighbouring_positions_and_seeds_have_numbers_that_do_not_go_together():
    table = torch.tensor([[random_number(seed, position) for position in range(200)] for seed in range(20)])
    assert 0.48 < table.mean() < 0.52
    assert torch.corrcoef(table).fill_diagonal_(0).abs().max() < 0.3
    assert torch.corrcoef(torch.stack([table[:, 1:].flatten(), table[:, :-1].flatten()]))[0, 1].abs() < 0.05
    assert len(table.unique()) == table.numel()


@given(rows, samplings, positions)
def test_laws_of_a_draw(row, sampling, position):
    logits = torch.tensor(row)
    drawn = draw(logits, sampling, position)
    assert drawn.token == next_token(logits, sampling, position)
    assert drawn.final.sum() == pytest.approx(1, abs=1e-12)
    assert drawn.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert drawn.kept[drawn.token]
    assert drawn.after > 0
    assert drawn.after >= drawn.before * (1 - 1e-12)  # what is cut is shared out among the others
    assert not drawn.final[~drawn.kept].any()
    likely = drawn.probabilities[drawn.order]
    assert (likely[1:] <= likely[:-1]).all()
    assert all(a < b for a, b in zip(drawn.order, drawn.order[1:], strict=False) if logits[a] == logits[b])
    assert drawn.cumulative[-1] == 1
    below = drawn.cumulative[drawn.rank - 1] if drawn.rank else 0
    assert below <= drawn.number < drawn.cumulative[drawn.rank]
    assert len(drawn.cumulative) == int(drawn.kept.sum())
    cuts = torch.stack([*drawn.cut.values()]).sum(0)
    assert torch.equal(cuts, (~drawn.kept).long()) or sampling.greedy


@given(rows, samplings, positions)
def test_the_draw_is_a_pure_function_and_the_number_is_that_of_seed_and_position(row, sampling, position):
    first, again = (draw(torch.tensor(row), sampling, position) for _ in range(2))
    assert first.token == again.token
    if not sampling.greedy:
        other = draw(torch.tensor([1.0, 2.0]), replace(sampling, temperature=1, top_k=1), position)
        assert first.number == again.number == other.number == random_number(sampling.seed, position)


@given(rows, st.floats(0.05, 5), st.floats(0.05, 5), samplings)
def test_a_lower_temperature_never_lowers_the_largest_probability(row, first, second, sampling):
    cold, warm = (
        draw(torch.tensor(row), replace(sampling, temperature=t)).probabilities.max() for t in sorted((first, second))
    )
    assert cold >= warm * (1 - 1e-12)


@given(rows, samplings, samplings)
def test_a_stricter_filter_keeps_no_token_more(row, first, second):
    if any(setting.greedy for setting in (first, second)):
        return
    for name in ("top_p", "min_p"):
        strict, loose = sorted((getattr(first, name), getattr(second, name)), reverse=name == "min_p")
        few, many = (draw(torch.tensor(row), replace(first, **{name: value})).kept for value in (strict, loose))
        if name == "min_p" or first.min_p == 0:
            assert (few <= many).all(), name


@given(rows, positions)
def test_greedy_takes_the_first_of_the_largest(row, position):
    drawn = draw(torch.tensor(row), Sampling(greedy=True, seed=position), position)
    assert drawn.token == row.index(max(row))
    assert (drawn.after, drawn.number, drawn.rank) == (1, 0, 0)
    assert not torch.stack([*drawn.cut.values()]).any()
    assert drawn.kept.sum() == 1


@pytest.mark.parametrize("number", [0.0, 0.5, math.nextafter(1, 0)])
def test_a_token_without_a_share_is_never_drawn_at_the_ends_either(number):
    sums = torch.tensor([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], dtype=torch.float64)
    assert rank_at(sums, number) == (2 if number < 0.5 else 4)


def test_impossible_tokens_are_never_drawn():
    logits = torch.tensor([-math.inf, 0.0, -math.inf, -800.0])
    for setting in (Sampling(), Sampling(top_k=0), Sampling(temperature=5, top_k=0), Sampling(greedy=True)):
        assert {next_token(logits, setting, position) for position in range(50)} == {1}
        assert draw(logits, setting).final.tolist() == [0, 1, 0, pytest.approx(0, abs=1e-60)]


def test_a_draw_in_the_middle_of_ties_is_the_same_on_both_ways():
    logits = torch.zeros(300)
    logits[7] = 1
    for position in range(50):
        setting = Sampling(top_k=5, seed=1)
        assert next_token(logits, setting, position) == draw(logits, setting, position).token
    assert draw(logits, Sampling(top_k=5)).left.top_k == 300
