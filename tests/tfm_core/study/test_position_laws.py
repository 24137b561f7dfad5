"""The papers' claims on positions: beside float64 formulas of the papers, and naive loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import largest_error
from tfm_core import sinusoidal_encoding
from tfm_core.positional.schemes import Rotary
from tfm_core.study.closest_rows import closest
from tfm_core.study.position_laws import (
    by_distance,
    fitted_shift_error,
    shift_blocks,
    shift_by,
    shift_error,
    shift_matrix,
    turned_scores,
)

BASES = st.floats(2.0, 1e6)


def paper(seq: int, width: int, base: float) -> torch.Tensor:
    """Vaswani et al. 2017, section 3.5, in float64, number by number."""
    waves = (math.sin, math.cos)
    rows = [[waves[c % 2](pos / base ** (2 * (c // 2) / width)) for c in range(width)] for pos in range(seq)]
    return torch.tensor(rows, dtype=torch.float64)


@given(st.integers(1, 12), st.integers(0, 200), st.integers(0, 50), BASES)
def test_one_matrix_shifts_every_position(pairs, shift, position, base):
    width = 2 * pairs
    table = paper(position + shift + 1, width, base)
    matrix = shift_matrix(shift_blocks(width, shift, base=base))
    assert largest_error(matrix @ table[position], table[position + shift]) < 1e-11


@given(st.integers(2, 9), st.integers(-20, 20), st.integers(-20, 20), BASES)
def test_shifts_are_turns_and_follow_each_other(width, first, second, base):
    first, second, both = (
        shift_matrix(shift_blocks(width, shift, base=base)) for shift in (first, second, first + second)
    )
    assert first.shape == (2 * (width // 2),) * 2
    assert largest_error(first @ second, both) < 1e-12
    assert largest_error(first @ first.mT, torch.eye(len(first)).double()) < 1e-12


@pytest.mark.parametrize("width", [2, 3, 8, 33])
@pytest.mark.parametrize("shift", [0, 1, 17, 39])
def test_the_largest_error_is_that_of_a_loop_and_within_what_float32_can_hold(width, shift):
    table = sinusoidal_encoding(40, width, base=100.0)
    error = shift_error(table, shift, base=100.0)
    matrix = shift_matrix(shift_blocks(width, shift, base=100.0)).float().numpy()
    even = 2 * (width // 2)
    errors = [
        np.abs(matrix @ table[pos, :even].numpy() - table[pos + shift, :even].numpy()).max()
        for pos in range(40 - shift)
    ]
    assert error.dimensions == even
    np.testing.assert_allclose(error.at, errors, atol=1.2e-7)
    assert error.largest == error.at.max() <= 5 * 2.0**-24


def test_a_sine_without_its_cosine_has_no_block_and_no_error():
    assert shift_blocks(1, 3).shape == (0, 2, 2)
    assert shift_matrix(shift_blocks(1, 3)).shape == (0, 0)
    error = shift_error(sinusoidal_encoding(9, 1), 3)
    assert (error.largest, error.dimensions, len(error.at)) == (0.0, 0, 6)
    assert shift_by(sinusoidal_encoding(9, 5), shift_blocks(5, 3)).shape == (9, 4)


def test_the_wrong_shift_and_the_wrong_base_are_seen():
    table = sinusoidal_encoding(60, 16)
    assert shift_error(table, 3).largest < 1e-6
    assert shift_error(table, 3, base=9000.0).largest > 1e-3
    with pytest.raises(ValueError, match="expected 0 to 59, within the table, got 60"):
        shift_error(table, 60)


def test_noise_has_no_such_matrix_and_least_squares_say_so():
    noise = torch.randn(200, 8, generator=torch.Generator().manual_seed(1))
    error = fitted_shift_error(noise, 4)
    fit, *_ = np.linalg.lstsq(noise[:-4].double().numpy(), noise[4:].double().numpy(), rcond=None)
    expected = np.abs(noise[:-4].numpy() @ fit - noise[4:].numpy()).max()
    assert error.largest == pytest.approx(expected, rel=1e-4)
    assert error.largest > 1
    assert fitted_shift_error(noise[:10], 4).largest < 1e-4  # 6 pairs, 8 dimensions: any table has one
    assert fitted_shift_error(sinusoidal_encoding(200, 8, base=50.0), 4).largest < 1e-4


def test_a_table_of_one_direction_has_one_fit_whatever_lies_in_memory():
    """A ramp is a multiple of one vector but for rounding, which must not become a direction of its own.

    Its first dimension is 0: a fit that begins with it, because freed memory says so, finds no direction at all.
    """
    ramp = torch.outer(torch.arange(70) / 64, torch.linspace(0, 1, 6))
    fit, *_ = np.linalg.lstsq(ramp[:-5].double().numpy(), ramp[5:].double().numpy(), rcond=1e-5)
    expected = np.abs(ramp[:-5].double().numpy() @ fit - ramp[5:].double().numpy()).max(1)
    for _ in range(300):
        freed = [torch.ones(6, dtype=torch.int32) for _ in range(20)]
        del freed
        assert np.abs(fitted_shift_error(ramp, 5).at.numpy() - expected).max() < 1e-6


@given(st.integers(1, 8), st.lists(st.integers(0, 3000), min_size=1, max_size=6), st.integers(0, 500), BASES)
def test_turned_scores_depend_on_the_distance_alone(half, at, shift, base):
    query, key = torch.randn(2, 2 * half, dtype=torch.float64, generator=torch.Generator().manual_seed(half))
    positions, of_keys = torch.tensor(at), torch.tensor([*at[::-1], 7])
    scheme = Rotary(d_model=2 * half, num_heads=1, max_len=1, base=base)
    scores = turned_scores(scheme, query, key, positions, of_keys)
    moved = turned_scores(scheme, query, key, positions + shift, of_keys + shift)
    assert largest_error(scores, moved) < 1e-9
    pairs = torch.complex(query[:half], query[half:]) * torch.complex(key[:half], key[half:]).conj()
    theta = base ** (-torch.arange(half, dtype=torch.float64) / half)
    for i, m in enumerate(at):
        for j, n in enumerate(of_keys.tolist()):
            expected = (pairs * torch.exp(1j * (m - n) * theta)).real.sum()  # Su et al. 2021, equation 12
            assert scores[i, j].item() == pytest.approx(expected.item(), abs=1e-8)


@given(st.integers(2, 30), st.integers(0, 10_000))
def test_by_distance_is_what_a_loop_collects(seq, seed):
    table = torch.randn(seq, seq, generator=torch.Generator().manual_seed(seed))
    table[0, 1:3] = torch.nan
    at = torch.arange(seq)[seed % 3 :: 1 + seed % 2]
    at = at if len(at) else torch.arange(seq)
    rows, asked = by_distance(table[at], at), torch.full_like(table, math.nan)
    asked[at] = table[at]
    spreads = [0.0]
    for place, distance in enumerate(range(1 - seq, seq)):
        values = [value for value in asked.diagonal(distance).tolist() if not math.isnan(value)]
        if not values:
            assert all(math.isnan(x[place]) for x in (rows.mean, rows.least, rows.most))
            continue
        assert rows.mean[place].item() == pytest.approx(sum(values) / len(values), abs=1e-6)
        assert (rows.least[place].item(), rows.most[place].item()) == (min(values), max(values))
        spreads.append(max(values) - min(values))
    assert rows.spread == pytest.approx(max(spreads), abs=1e-6)


@pytest.mark.parametrize("base", [2.0, 37.0, 10000.0, 1e6])
@pytest.mark.parametrize("width", [2, 3, 16, 150])
def test_the_closest_two_are_those_of_all_pairs(width, base):
    table = sinusoidal_encoding(700, width, base=base)
    nearest = closest(table)
    distances = torch.cdist(table.double(), table.double(), compute_mode="donot_use_mm_for_euclid_dist")
    distances = distances.masked_fill(torch.eye(700, dtype=torch.bool), torch.inf)
    assert nearest.distance == pytest.approx(distances.min().item(), abs=1e-9)
    assert distances[nearest.pair].item() == pytest.approx(nearest.distance, abs=1e-12)
    assert nearest.pair[0] < nearest.pair[1]
    for count in (2, 3, 256, 257, 700):
        expected = distances[:count, :count].min().item()
        assert nearest.within[count - 1].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "width", "base", "step"),
    [(64, 64, 10000.0, 1), (64, 2, 10000.0, 44), (700, 2, 2.0, 333), (300, 100, 10000.0, 1), (60, 33, 10000.0, 1)],
)
def test_pairs_of_waves_that_stand_equally_far_apart_tie_for_the_nearest(rows, width, base, step):
    table = sinusoidal_encoding(rows, width, base=base)
    nearest = closest(table)
    assert (nearest.ties, nearest.step) == (rows - step, step)
    apart = torch.dist(*paper(step + 1, width, base)[[0, step]])  # in float64; an odd width's last sine hardly counts
    assert nearest.distance == pytest.approx(apart.item(), abs=1e-6 if width % 2 == 0 else 1e-3)


@pytest.mark.parametrize("width", [1, 3, 80])
def test_noise_has_one_nearest_pair_and_rows_that_repeat_tie(width):
    noise = torch.randn(300, width, generator=torch.Generator().manual_seed(3))
    nearest = closest(noise)
    assert nearest.distance == pytest.approx(torch.pdist(noise.double()).min().item(), abs=1e-9)
    assert (nearest.ties, nearest.step) == (1, nearest.pair[1] - nearest.pair[0])
    noise[270] = noise[77]
    nearest = closest(noise)
    assert (nearest.distance, nearest.pair) == (0, (77, 270))
    assert nearest.within[269] > 0 == nearest.within[270:].max()
    noise[[90, 200]] = noise[77].clone()
    nearest = closest(noise)
    assert (nearest.distance, nearest.ties, nearest.step) == (0, 6, None)
