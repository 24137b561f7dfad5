"""What the view "see" shows, beside the papers' equations in float64 and the authors' code."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lenses.positions.position_toys import MODEL, alone, asks, cells, drawn
from tests.tfm_ui.pictures.charts import figure, lines
from tfm_core import POSITIONAL, apply_rotary
from tfm_core.positional.schemes import Rotary
from tfm_ui.lenses.positions.see.bias import BiasA, DistanceA
from tfm_ui.lenses.positions.see.clocks import ClocksA, ClocksB, Wavelengths
from tfm_ui.lenses.positions.see.encode import Curves, EncodeA
from tfm_ui.lenses.positions.state import OWN_SCALES, PositionsState
from tfm_ui.pictures.positions.added import CURVES, toggled
from tfm_ui.pictures.positions.curves import PIECES, POINTS, kept_points
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def sinusoids(length: int, width: int, base: float) -> np.ndarray:
    """PE(pos, 2i) = sin(pos / base^(2i/d)), PE(pos, 2i+1) = cos(the same), one by one."""
    table = np.zeros((length, width))
    for position in range(length):
        for i in range(width):
            angle = position / base ** (2 * (i // 2) / width)
            table[position, i] = np.cos(angle) if i % 2 else np.sin(angle)
    return table


@pytest.mark.parametrize(("length", "width", "base"), [(2, 1, 2), (9, 7, 1e6), (64, 33, 10000), (130, 64, 17.5)])
def test_the_heatmap_of_sinusoids_is_the_equation_of_the_paper(length, width, base):
    state = alone("sinusoidal", length=length, width=width, base=base)
    header, table = cells("encode_a", state)
    np.testing.assert_allclose(table[0], sinusoids(length, width, base), atol=2e-7)
    assert header["part"]["block"] == [1, 1]


def test_a_zoom_into_the_largest_table_is_the_library_s_bit_for_bit():
    state = alone("sinusoidal", length=4096, width=512, part="4000,100,96,50")
    header, zoomed = cells("encode_a", state)
    whole = POSITIONAL["sinusoidal"](d_model=512, num_heads=8, max_len=4096).encode(4096)
    np.testing.assert_array_equal(zoomed[0], whole[4000:, 100:150].numpy())
    assert header["rows"]["counted"]
    assert header["places"][0][0] == 4000
    pooled = cells("encode_a", alone("sinusoidal", length=4096, width=512))[1][0]
    blocks = whole.numpy().reshape(256, 16, 256, 2).transpose(0, 2, 1, 3).reshape(256, 256, 32)
    assert (np.abs(pooled) == np.abs(blocks).max(-1)).all()
    assert (pooled[..., None] == blocks).any(-1).all()


def test_learned_positions_end_at_max_len_and_are_called_noise():
    state = alone("learned", length=20, max_len=12)
    header, table = cells("encode_a", state)
    assert np.isnan(table[0, 12:]).all()
    assert np.isfinite(table[0, :12]).all()
    assert header["blank"] == "not defined"
    sentence = EncodeA(MODEL, state).sentence()
    assert "noise" in sentence
    assert "random numbers of the model’s seed, 11" in sentence
    assert "From position 12 on, 8 positions are not defined." in sentence
    vectors = table[0, :12].astype(np.float64)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = (units[:-1] * units[1:]).sum(1).mean()
    assert f"a cosine of {mean:.3f} on average".replace("-", "−") in sentence
    assert "1 position is not defined" in EncodeA(MODEL, alone("learned", length=13, max_len=12)).sentence()


@pytest.mark.parametrize("name", ["sinusoidal", "learned"])
def test_curves_are_columns_of_the_table(name):
    state = alone(name, length=30, max_len=20, dims="5 0 63 64")
    header, _ = drawn("curves_a", state)
    assert list(lines(header)) == ["5", "0", "63"]  # the width is 64
    table = EncodeA(MODEL, state).values.numpy()
    for dim, (x, y) in lines(header).items():
        np.testing.assert_array_equal(y, table[x.astype(int), int(dim)])
        assert x[-1] == 29  # the axis is the same, whether or not there is a value
    assert "sign" in Curves(MODEL, state).sentence()
    beyond = alone("learned", length=30, max_len=20, part="24,0,6,0")
    assert "never changes sign" in Curves(MODEL, beyond).sentence()
    first, second = (
        Curves(MODEL, zoomed).sentence()
        for zoomed in (PositionsState(a="sinusoidal", dims="0", part=part) for part in ("0,0,5,0", "0,0,0,0"))
    )
    assert "dimension 0 changes sign once" in first
    assert "dimension 0 changes sign 20 times" in second
    beside = figure(Curves.content(MODEL, PositionsState(a="sinusoidal", b="learned"))[0]).layout
    assert beside.yaxis.range == beside.yaxis2.range
    empty = PositionsState(a=name, dims="")
    assert "No dimension is chosen" in Curves(MODEL, empty).sentence()


@given(seed=st.integers(0, 999), length=st.integers(POINTS + 1, 8 * POINTS))
def test_of_a_long_curve_the_highest_and_the_lowest_of_each_piece_travel(seed, length):
    y = np.random.default_rng(seed).standard_normal(length, np.float32)
    at = kept_points(y)
    assert (np.diff(at) > 0).all()
    assert len(at) <= 2 * PIECES
    assert y[at].min() == y.min()
    assert y[at].max() == y.max()


def test_of_a_long_curve_of_steps_their_ends_travel():
    y = np.repeat(np.array([3, 1, 2], np.float32), 400)
    assert kept_points(y).tolist() == [0, 399, 400, 799, 800, 1199]
    assert len(kept_points(y[:0])) == 0


@pytest.mark.parametrize("name", ["sinusoidal", "rope"])
@pytest.mark.parametrize(("width", "base"), [(2, 10000), (8, 2), (64, 1e6)])
def test_after_its_wavelength_a_pair_has_turned_once(name, width, base):
    lengths = POSITIONAL[name](d_model=width, num_heads=1, max_len=9, base=base).wavelengths(width)
    np.testing.assert_allclose(lengths, [2 * np.pi * base ** (2 * i / width) for i in range(width // 2)], rtol=1e-12)
    for i, length in enumerate(lengths):
        x = torch.zeros(1, width, dtype=torch.float64)
        x[0, i], x[0, i + width // 2] = 0.6, 0.8
        torch.testing.assert_close(apply_rotary(x, length[None], base=base), x)


def test_waves_that_are_the_same_are_said_once_and_turns_are_counted():
    state = PositionsState(a="sinusoidal", b="rope", length=64)
    expected = sum(2 * np.pi * 10000 ** (2 * i / 64) <= 63 for i in range(32))
    result = Wavelengths(MODEL, state)
    sentence = result.sentence()
    assert sentence.count("positions;") == 1
    assert f"32 waves of 6.28 to 47,117 positions; from position 0 to 63, {expected} complete a turn" in sentence
    other = Wavelengths(MODEL, PositionsState(a="learned", b="rope", width=3, length=8)).sentence()
    assert "B: rope: 1 wave of 6.28 positions; from position 0 to 7, 1 completes a turn." in other
    assert "A: learned is not made of waves." in other
    assert list(result.table().columns) == ["wavelength of A: sinusoidal", "wavelength of B: rope"]
    assert [scheme.name for scheme, _ in result.sides] == ["sinusoidal", "rope"]


@given(dims=st.lists(st.integers(0, 20), unique=True, max_size=CURVES), dim=st.integers(0, 20))
def test_a_click_adds_a_dimension_or_takes_it_away_and_others_keep_their_colours(dims, dim):
    after = [int(word) for word in toggled(dims, dim).split()]
    assert len(after) <= CURVES
    assert (dim in after) != (dim in dims)
    moved = [d for d in set(dims) & set(after) if dims.index(d) != after.index(d)]
    assert len(moved) <= 1
    assert EncodeA(MODEL, alone("sinusoidal", width=21, dims=" ".join(map(str, after)))).dims == after


@pytest.mark.parametrize("heads", [1, 6, 8, 32])
def test_alibi_is_minus_slope_times_distance_and_its_slopes_are_said(heads):
    state = alone("alibi", heads=heads, length=9)
    _, matrices = cells("bias_a", state)
    slopes = np.array(_slopes(heads))
    distance = np.abs(np.arange(9)[:, None] - np.arange(9))
    np.testing.assert_allclose(matrices, -slopes[:, None, None] * distance, rtol=1e-6)
    result = DistanceA(MODEL, state)
    np.testing.assert_allclose(result.bias.slopes, slopes)
    assert f"{slopes[0]:.4g}" in result.sentence()


@pytest.mark.parametrize("heads", [1, 8])
def test_heads_share_a_scale_that_ends_at_0_so_that_slopes_can_be_compared(heads):
    state = alone("alibi", heads=heads, length=160)
    header, _ = cells("bias_a", state)
    steepest = _slopes(heads)[0] * 159
    for each in header["maps"]:
        assert (each["low"], each["high"]) == (pytest.approx(-steepest), 0)
        assert (each["lowText"], each["highText"]) == (f"−{formats.weight(steepest)}", "0")
    assert [each["name"] for each in header["maps"]] == [f"head {i + 1}" for i in range(heads)]
    assert ("all heads on one scale" in BiasA(MODEL, state).how_to_read) == (heads > 1)


def test_each_head_on_a_scale_of_its_own_is_a_choice_and_said():
    state = alone("alibi", heads=8, length=160, bias_scale=OWN_SCALES)
    header, _ = cells("bias_a", state)
    for each, slope in zip(header["maps"], _slopes(8), strict=True):
        assert (each["low"], each["high"]) == (pytest.approx(-slope * 159), 0)
    assert header["maps"][0]["name"] == "head 1: −79.50 to 0"
    assert "each head on a scale of its own" in BiasA(MODEL, state).how_to_read
    header, matrices = cells("bias_a", alone("t5", heads=3, bias_scale=OWN_SCALES))
    assert [each["high"] for each in header["maps"]] == [np.abs(values).max() for values in matrices]
    assert all(each["low"] == -each["high"] for each in header["maps"])


def _slopes(heads: int) -> list[float]:
    """The authors' code, get_slopes of attention_with_linear_biases."""
    power = 2 ** int(np.floor(np.log2(heads)))
    start = 2 ** (-(2 ** -(np.log2(power) - 3)))
    first = [start * start**i for i in range(power)]
    return first if power == heads else first + _slopes(2 * power)[::2][: heads - power]


def test_t5_tells_which_distances_share_a_bucket():
    state = alone("t5", length=64)
    result = DistanceA(MODEL, state)
    assert (13, -63, -46) in result.bias.shared
    widest = "The 2 widest hold 18 each: distances −63 to −46 share bucket 13 and 46 to 63 share bucket 29."
    assert widest in result.sentence()
    counts = result.bias.buckets.bincount()
    assert [counts[13], counts[29]] == [18, 18] == counts.sort(descending=True).values[:2].tolist()
    assert "noise" in BiasA(MODEL, state).sentence()
    _, matrices = cells("bias_a", state)
    assert len(np.unique(matrices[0][63, :18])) == 1
    assert not result.bias.slopes
    decoder = DistanceA(ModelState(architecture="decoder"), alone("t5"))
    assert "distances 0 to 63 share bucket 0" in decoder.sentence()  # all keys that lie ahead
    assert widest in DistanceA(ModelState(architecture="encoder-decoder"), alone("t5")).sentence()
    short = DistanceA(MODEL, alone("t5", length=2))
    assert "3 distances fall into 3 of 32 buckets. No two distances share one" in short.sentence()


@pytest.mark.parametrize("heads", [1, 8, 32])
def test_the_longest_matrices_travel_pooled_and_exactly_on_zoom(heads):
    state = alone("alibi", heads=heads, length=4096)
    header, matrices = cells("bias_a", state)
    module, (down, over) = BiasA(MODEL, state).scheme.module, header["part"]["block"]
    assert matrices.nbytes <= 2**20
    assert matrices[0, 0, -1] == module.bias_at(torch.tensor([4095])).float()[0]
    assert matrices[0, 1, 1] == -(max(down, over) - 1) * module.bias_at(torch.tensor([-1])).neg().float()[0]
    _, near = cells("bias_a", alone("alibi", heads=heads, length=4096, square="4000,7,9,11"))
    expected = module.bias_at(torch.arange(7, 18) - torch.arange(4000, 4009)[:, None]).float()
    np.testing.assert_array_equal(near, expected.numpy())


def test_the_clocks_are_the_library_s_turns():
    result = ClocksA(MODEL, asks("rope", width=8, position=13, key=5, base=77.0))
    for i in range(4):
        theta = 77.0 ** (-2 * i / 8)
        assert result.hands[0][i].tolist() == pytest.approx([math.cos(13 * theta), math.sin(13 * theta)], abs=1e-5)
        assert result.hands[1][i].tolist() == pytest.approx([math.cos(5 * theta), math.sin(5 * theta)], abs=1e-5)
        assert result.turns.between[i].item() == pytest.approx(8 * theta)
    assert all(result.laws().values())
    later = ClocksA(MODEL, asks("rope", width=8, position=17, key=9, base=77.0))
    np.testing.assert_allclose(result.turns.dots, later.turns.dots, atol=1e-5)
    many = ClocksA(MODEL, asks("rope", width=512, length=4096, position=4095, key=4000))
    assert (len(many.turns.drawn), many.turns.pairs) == (32, 256)
    assert all(many.laws().values())
    assert ClocksA(MODEL, asks("rope", length=5, position=13)).at == 4
    assert ClocksA.content(MODEL, asks("rope", position=13, key=5))[0]["at"] == {"query": 13, "key": 5}
    assert "Query at m = 13, key at n = 5, m − n = 8" in result.sentence()


def test_two_schemes_that_turn_have_clocks_of_their_own(monkeypatch):
    class Other(Rotary):
        """Turns the other way."""

        def rotate(self, x):
            return super().rotate(x) * x.new_tensor([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])

    monkeypatch.setitem(POSITIONAL, "other", Other)
    state = asks("rope", "other", position=3, key=0)
    (header, a), (_, b) = ClocksA.content(MODEL, state), ClocksB.content(MODEL, state)
    assert len(header["pairs"]) == len(a) == len(b) == 3
    np.testing.assert_allclose(b[:, 0], a[:, 0])
    np.testing.assert_allclose(b[:, 1], -a[:, 1])
    assert not len(ClocksA.content(MODEL, asks("alibi"))[1])
    assert not len(ClocksB.content(MODEL, asks("rope"))[1])
