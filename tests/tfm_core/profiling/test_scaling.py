"""Exponents and crossings come back from curves that we made, with the noise that we put in."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.profiling import Blocks, Row, Size
from tfm_core.profiling.costs import flops
from tfm_core.profiling.scaling import FEWEST_BLOCKS, crossing, exponent, fit, predicted_crossing

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)


def noisy(power, spread, drawn, count=15, lengths=LENGTHS):
    return [Blocks(tuple(1e-6 * n**power * drawn.lognormal(0, spread, count)), tuple(range(count))) for n in lengths]


@given(st.floats(0.1, 4), st.floats(1e-9, 1e3))
def test_of_an_exact_power_law_the_exponent_is_exact(power, factor):
    values = [factor * n**power for n in LENGTHS]
    assert exponent(LENGTHS, values) == pytest.approx(power, abs=1e-9)
    line = fit(LENGTHS, [Blocks((value,) * 5, tuple(range(5))) for value in values])
    bounds = line.exponent.low, line.exponent.middle, line.exponent.high
    assert bounds == pytest.approx((power,) * 3, abs=1e-9)
    assert line.factor == pytest.approx(factor, rel=1e-6)
    assert line.at(300) == pytest.approx(factor * 300**power, rel=1e-6)


@pytest.mark.parametrize(
    ("spread", "count", "lengths"), [(0.05, 15, LENGTHS), (0.5, 8, LENGTHS), (0.1, FEWEST_BLOCKS, LENGTHS[::6])]
)
def test_the_true_exponent_lies_within_as_often_as_promised(spread, count, lengths):
    drawn = np.random.default_rng(3)
    intervals = [fit(lengths, noisy(1.7, spread, drawn, count, lengths)).exponent for _ in range(200)]
    assert 0.90 <= np.mean([interval.low <= 1.7 <= interval.high for interval in intervals]) <= 0.995
    assert np.mean([interval.middle for interval in intervals]) == pytest.approx(1.7, abs=0.02)
    assert all(interval.low <= interval.middle <= interval.high for interval in intervals)


def test_more_noise_makes_a_wider_interval_and_the_seed_settles_it():
    quiet, loud = (fit(LENGTHS, noisy(2, spread, np.random.default_rng(4))) for spread in (0.02, 0.2))
    assert quiet.exponent.high - quiet.exponent.low < (loud.exponent.high - loud.exponent.low) / 3
    again = fit(LENGTHS, noisy(2, 0.2, np.random.default_rng(4)))
    assert again == loud
    assert fit(LENGTHS, noisy(2, 0.2, np.random.default_rng(4)), seed=1) != loud


def test_the_line_is_numpys():
    blocks = noisy(1.3, 0.3, np.random.default_rng(5))
    slope, intercept = np.polyfit(np.log(LENGTHS), np.log([b.median for b in blocks]), 1)
    line = fit(LENGTHS, blocks)
    assert line.exponent.middle == pytest.approx(slope)
    assert line.factor == pytest.approx(math.exp(intercept))


def test_lengths_without_a_clean_block_are_left_out():
    blocks = noisy(2, 0, np.random.default_rng(0))
    blocks[2] = Blocks(contended=15)
    assert fit(LENGTHS, blocks).exponent.middle == pytest.approx(2)


@pytest.mark.parametrize("kept", [0, 1])
def test_with_fewer_than_two_lengths_nothing_is_known(kept):
    blocks = noisy(2, 0, np.random.default_rng(0))[:kept] + [Blocks()] * (len(LENGTHS) - kept)
    line = fit(LENGTHS, blocks)
    assert math.isnan(line.exponent.middle)
    assert math.isnan(line.factor)
    assert math.isnan(exponent(LENGTHS[:kept], LENGTHS[:kept]))
    assert math.isnan(fit((64, 64), [Blocks((x,) * 3, (0, 1, 2)) for x in (1.0, 2.0)]).exponent.middle)


def test_with_too_few_blocks_the_slope_stands_without_bounds():
    slope = fit(LENGTHS, noisy(2, 0, np.random.default_rng(0), count=FEWEST_BLOCKS - 1)).exponent
    assert slope.middle == pytest.approx(2)
    assert math.isnan(slope.low)
    assert math.isnan(slope.high)


def test_the_exponent_passes_over_what_has_no_logarithm():
    assert exponent((1, 2, 4, 8, 16), (3, math.nan, 12, 0, 48)) == pytest.approx(1)


@given(st.floats(33, 2000), st.floats(0.2, 1.5), st.floats(1.6, 3))
def test_two_power_laws_cross_where_they_do(at, slow, fast):
    a, b = ([(n / at) ** power for n in LENGTHS] for power in (fast, slow))
    assert crossing(LENGTHS, a, b) == pytest.approx(at)
    assert crossing(LENGTHS, b, a) is None


def test_the_ends_of_a_crossing():
    assert crossing((1, 2, 4), (1, 2, 3), (2, 2, 2)) == pytest.approx(2)
    assert crossing((1, 2, 4), (1, 1, 2), (2, 2, 2)) == pytest.approx(4)
    assert crossing((1, 2, 4), (2, 3, 4), (2, 2, 2)) == pytest.approx(1)
    assert crossing((1, 2, 4), (1, 1, 1), (2, 2, 2)) is None
    assert crossing((1, 2, 4), (3, 3, 3), (2, 2, 2)) is None
    assert crossing((1, 2, 4), (2, 2, 2), (2, 2, 2)) is None
    assert crossing((1, 2, 4, 8), (1, math.nan, 0, 4), (2, 2, 2, 2)) == pytest.approx(math.sqrt(8))
    assert crossing((), (), ()) is None


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ({}, 1),
        ({"activation": "swiglu"}, 1.5),
        ({"architecture": "encoder-decoder"}, 2 / 3),
        ({"positional": "rope"}, 1),
    ],
)
@given(st.sampled_from((8, 24, 64)), st.integers(1, 4), st.sampled_from((0, 50, 300)))
def test_products_overtake_the_feed_forward_at_d_ff_which_gates_and_attention_across_move(
    kind, times, d_model, layers, d_ff
):
    sizes = {"d_model": d_model, "num_heads": 2, "num_layers": layers, "d_ff": d_ff, **kind}
    rows = [Row("fused", Size(**sizes, seq_len=n)) for n in (8, 99, 4096)]
    costs = [flops(row) for row in rows]
    length = crossing((8, 99, 4096), *([counts[part] for counts in costs] for part in ("products", "feed-forward")))
    assert length == pytest.approx(predicted_crossing(rows[0].size)) == pytest.approx(times * (d_ff or 4 * d_model))
