"""Experiments on scale and order: beside torch's own functions, closed forms and plain loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import scale_experiment
from tfm_core.model.initialization import generator
from tfm_core.study.experiments import largest_gradient
from tfm_core.study.order import along_batch, along_sequence, apart, difference, moved, shuffle_order

WIDTHS = (1, 2, 6, 64)


def drawn(width, draws, keys, seed):
    """What the experiment draws, in float64."""
    numbers = generator(seed, f"scale experiment, d_k {width}")
    return (torch.randn(draws, n, width, generator=numbers).double() for n in (1, keys))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_number_agrees_with_torchs_own_products_softmax_and_jacobian(width):
    draws, keys, seed = 7, 5, 3
    measured = scale_experiment([width], draws=draws, keys=keys, seed=seed)
    query, key = drawn(width, draws, keys, seed)
    products = (query @ key.mT)[:, 0]
    assert measured.variance.item() == pytest.approx(products.var(correction=0).item(), rel=1e-4)
    for name, scale in {"scaled": 1 / math.sqrt(width), "unscaled": 1.0}.items():
        scores = products * scale
        entropies = torch.distributions.Categorical(logits=scores).entropy()
        jacobians = [torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), row) for row in scores]
        largest = sorted(jacobian.abs().max().item() for jacobian in jacobians)
        assert measured.entropy[name].item() == pytest.approx(entropies.mean().item(), rel=1e-4)
        assert measured.gradient[name].item() == pytest.approx(sum(largest) / draws, rel=1e-4)
        assert measured.median_gradient[name].item() == pytest.approx(largest[draws // 2], rel=1e-4)


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=9))
def test_the_largest_entry_of_the_jacobian_stands_on_its_diagonal_and_is_a_quarter_at_most(scores):
    row = torch.tensor(scores, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), row)
    gradient = largest_gradient(row.softmax(-1)).item()
    assert gradient == pytest.approx(jacobian.abs().max().item(), abs=1e-12)
    assert gradient <= 0.25


@pytest.mark.parametrize("seed", range(3))
def test_wide_heads_without_scaling_starve_the_softmax(seed):
    measured = scale_experiment((4, 256), draws=200, seed=seed)
    ratio = {name: (measured.entropy[name][1] / measured.entropy[name][0]).item() for name in measured.entropy}
    assert ratio["unscaled"] < 0.2 < 0.9 < ratio["scaled"] < 1.1
    assert measured.gradient["unscaled"][1] < measured.gradient["scaled"][1] / 2
    assert measured.median_gradient["unscaled"][1] < measured.median_gradient["scaled"][1] / 10
    assert all((values <= math.log(16)).all() for values in measured.entropy.values())
    assert all((values <= 0.25).all() for values in measured.gradient.values())


def test_at_width_one_there_is_nothing_to_scale():
    experiment = scale_experiment([1], draws=50)
    for measured in (experiment.entropy, experiment.gradient, experiment.median_gradient):
        assert measured["scaled"] == measured["unscaled"]


def test_a_width_hangs_on_its_seed_and_on_nothing_else_that_is_tried():
    alone, among = scale_experiment([8], draws=20), scale_experiment([2, 8, 16], draws=20)
    assert alone.variance[0] == among.variance[1]
    assert alone.variance[0] != scale_experiment([8], draws=20, seed=1).variance[0]
    before = torch.random.get_rng_state()
    scale_experiment([3], draws=2)
    assert torch.equal(torch.random.get_rng_state(), before)


# experiments on order


@given(ids=st.lists(st.integers(0, 3), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_a_shuffle_is_another_text_of_the_same_words_where_there_is_one(ids, seed):
    order = shuffle_order(ids, seed)
    assert sorted(order) == list(range(len(ids)))
    assert order == shuffle_order(tuple(ids), seed)
    shuffled = [ids[i] for i in order]
    assert (shuffled != ids) == (len(set(ids)) > 1)


def test_another_seed_is_another_shuffle():
    assert len({tuple(shuffle_order(range(10), seed)) for seed in range(20)}) == 20


@given(seq=st.integers(1, 6), width=st.integers(1, 5), seed=st.integers(0, 99))
def test_moves_are_lengths_of_differences_between_a_words_own_rows(seq, width, seed):
    numbers = torch.Generator().manual_seed(seed)
    before, after = torch.randn(2, seq, width, generator=numbers)
    order = shuffle_order(range(seq), seed)
    shares, differences = moved(before, after, order), difference(before, after, order)
    apart = after - before[order]  # a word's row now, less its row before
    torch.testing.assert_close(differences[order], apart)
    torch.testing.assert_close(shares[order], apart.norm(dim=-1) / before[order].norm(dim=-1))


@given(batch=st.integers(1, 4), seq=st.integers(1, 5), width=st.integers(1, 4))
def test_along_the_sequence_each_position_has_its_own_along_the_batch_each_sentence(batch, seq, width):
    x, pe = torch.rand(batch, seq, width), torch.rand(max(batch, seq) + 2, width)
    assert torch.equal(along_sequence(x, pe), x + pe[:seq])
    assert torch.equal(along_batch(x, pe), x + pe[:batch, None])


def test_apart_is_a_share_of_the_length():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    assert apart(vectors, vectors + torch.tensor([0.0, 1.0])).tolist() == pytest.approx([0.2, 0.5])
