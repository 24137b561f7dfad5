"""What schemes add to the scores, beside the authors' code and the library's own."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.test_see import MODEL, cells, of
from tfm_ui.lenses.positions.see.bias import bias
from tfm_ui.lenses.positions.state import OWN_SCALES
from tfm_ui.text import formats


@pytest.mark.parametrize("heads", [1, 6, 8, 32])
def test_alibi_is_minus_slope_times_distance_and_its_slopes_are_said(heads):
    state, scheme = of("alibi", heads=heads, length=9)
    _, drawn = cells("positions_bias_a", state)
    slopes = np.array(_slopes(heads))
    distance = np.abs(np.arange(9)[:, None] - np.arange(9))
    np.testing.assert_allclose(drawn, -slopes[:, None, None] * distance, rtol=1e-6)
    result = bias(MODEL, state, scheme)
    np.testing.assert_allclose(result.slopes, slopes)
    assert f"{slopes[0]:.4g}" in result.about_distance()


@pytest.mark.parametrize("heads", [1, 8])
def test_heads_share_a_scale_that_ends_at_0_so_that_slopes_can_be_compared(heads):
    state, scheme = of("alibi", heads=heads, length=160)
    header, _ = cells("positions_bias_a", state)
    steepest = _slopes(heads)[0] * 159
    for drawn in header["maps"]:
        assert (drawn["low"], drawn["high"]) == (pytest.approx(-steepest), 0)
        assert (drawn["lowText"], drawn["highText"]) == (f"−{formats.weight(steepest)}", "0")
    assert [drawn["name"] for drawn in header["maps"]] == [f"head {i + 1}" for i in range(heads)]
    assert ("all heads on one scale" in bias(MODEL, state, scheme).how_to_read) == (heads > 1)


def test_each_head_on_a_scale_of_its_own_is_a_choice_and_said():
    state, scheme = of("alibi", heads=8, length=160, bias_scale=OWN_SCALES)
    header, _ = cells("positions_bias_a", state)
    for drawn, slope in zip(header["maps"], _slopes(8), strict=True):
        assert (drawn["low"], drawn["high"]) == (pytest.approx(-slope * 159), 0)
    assert header["maps"][0]["name"] == "head 1: −79.50 to 0"
    assert "each head on a scale of its own" in bias(MODEL, state, scheme).how_to_read
    header, drawn = cells("positions_bias_a", of("t5", heads=3, bias_scale=OWN_SCALES)[0])
    assert [drawn["high"] for drawn in header["maps"]] == [np.abs(values).max() for values in drawn]
    assert all(drawn["low"] == -drawn["high"] for drawn in header["maps"])


def _slopes(heads: int) -> list[float]:
    """The authors' code, get_slopes of attention_with_linear_biases."""
    power = 2 ** int(np.floor(np.log2(heads)))
    start = 2 ** (-(2 ** -(np.log2(power) - 3)))
    first = [start * start**i for i in range(power)]
    return first if power == heads else first + _slopes(2 * power)[::2][: heads - power]


def test_t5_tells_which_distances_share_a_bucket():
    state, scheme = of("t5", length=64)
    result = bias(MODEL, state, scheme)
    assert (13, -63, -46) in result.shared
    widest = "The 2 widest hold 18 each: distances −63 to −46 share bucket 13 and 46 to 63 share bucket 29."
    assert widest in result.about_distance()
    assert (
        [int((result.buckets == bucket).sum()) for bucket in (13, 29)]
        == [18, 18]
        == sorted(result.buckets.bincount().tolist(), reverse=True)[:2]
    )
    assert "noise" in result.sentence()
    _, drawn = cells("positions_bias_a", state)
    assert len(np.unique(drawn[0][63, :18])) == 1
    assert not result.slopes
    short = bias(MODEL, *of("t5", length=2))
    assert "3 distances fall into 3 of 32 buckets. No two distances share one" in short.about_distance()


@pytest.mark.parametrize("heads", [1, 8, 32])
def test_the_longest_matrices_travel_pooled_and_exactly_on_zoom(heads):
    state, scheme = of("alibi", heads=heads, length=4096)
    header, drawn = cells("positions_bias_a", state)
    down, over = header["part"]["block"]
    assert drawn.nbytes <= 2**20
    assert drawn[0, 0, -1] == scheme.module.bias_at(torch.tensor([4095])).float()[0]
    assert drawn[0, 1, 1] == -(max(down, over) - 1) * scheme.module.bias_at(torch.tensor([-1])).neg().float()[0]
    _, near = cells("positions_bias_a", of("alibi", heads=heads, length=4096, square="4000,7,9,11")[0])
    expected = scheme.module.bias_at(torch.arange(7, 18) - torch.arange(4000, 4009)[:, None]).float()
    np.testing.assert_array_equal(near, expected.numpy())
