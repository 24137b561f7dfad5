"""Experiments: their numbers against torch's own functions, their laws against closed forms."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import scale_experiment
from tfm_core.model.initialization import generator
from tfm_core.study.experiments import largest_gradient

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
