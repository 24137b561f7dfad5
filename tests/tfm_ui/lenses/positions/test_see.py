"""What the view "see" shows, beside the papers' equations in float64, and a scheme that it has never heard of."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import lines
from tfm_core import POSITIONAL, Positional, apply_rotary
from tfm_core.positional.schemes import About
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.bias import bias
from tfm_ui.lenses.positions.see.curves import PIECES, POINTS, curves, kept_points
from tfm_ui.lenses.positions.see.encode import CURVES, dimensions, encoded, toggled
from tfm_ui.lenses.positions.see.pictures import PICTURES as DRAWN
from tfm_ui.lenses.positions.see.waves import wavelengths
from tfm_ui.lenses.positions.state import NOTHING, PositionsState
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.registry import PICTURES, made, query_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(seed=3)


def of(name: str, **more):
    state = PositionsState(**{"a": name, "b": NOTHING, **more})
    return state, schemes(MODEL, state)[0]


def cells(name: str, state: PositionsState) -> tuple[dict, np.ndarray]:
    header, numbers = decode(made(name, query_of(((MODEL, ""), (state, "positions_")))))
    values = np.frombuffer(numbers, np.float32)
    return header, values.reshape(-1, len(header["rows"]["names"]), len(header["columns"]["names"]))


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
    state = PositionsState(a="sinusoidal", b=NOTHING, length=length, width=width, base=base)
    header, drawn = cells("positions_encode_a", state)
    np.testing.assert_allclose(drawn[0], sinusoids(length, width, base), atol=2e-7)
    assert header["part"]["block"] == [1, 1]


def test_a_zoom_into_the_largest_table_is_the_library_s_bit_for_bit():
    state = PositionsState(a="sinusoidal", b=NOTHING, length=4096, width=512, part="4000,100,96,50")
    header, drawn = cells("positions_encode_a", state)
    whole = POSITIONAL["sinusoidal"](d_model=512, num_heads=8, max_len=4096).encode(4096)
    np.testing.assert_array_equal(drawn[0], whole[4000:, 100:150].numpy())
    assert header["rows"]["counted"]
    assert header["places"][0][0] == 4000
    pooled = cells("positions_encode_a", PositionsState(a="sinusoidal", b=NOTHING, length=4096, width=512))[1][0]
    blocks = whole.numpy().reshape(256, 16, 256, 2).transpose(0, 2, 1, 3).reshape(256, 256, 32)
    assert (np.abs(pooled) == np.abs(blocks).max(-1)).all()
    assert (pooled[..., None] == blocks).any(-1).all()


def test_learned_positions_end_at_max_len_and_are_called_noise():
    state, scheme = of("learned", length=20, max_len=12)
    header, drawn = cells("positions_encode_a", state)
    assert np.isnan(drawn[0, 12:]).all()
    assert np.isfinite(drawn[0, :12]).all()
    assert header["blank"] == "not defined"
    said = encoded(MODEL, state, scheme).sentence()
    assert "noise" in said
    assert "random numbers of the model’s seed, 3" in said
    assert "From position 12 on, 8 positions are not defined." in said
    vectors = drawn[0, :12].astype(np.float64)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = (units[:-1] * units[1:]).sum(1).mean()
    assert f"a cosine of {mean:.3f} on average".replace("-", "−") in said
    assert "1 position is not defined" in encoded(MODEL, *of("learned", length=13, max_len=12)).sentence()


@pytest.mark.parametrize("name", ["sinusoidal", "learned"])
def test_curves_are_columns_of_the_table(name):
    state, scheme = of(name, length=30, max_len=20, dims="5 0 63 64")
    header, _ = decode(made("positions_curves_a", query_of(((MODEL, ""), (state, "positions_")))))
    assert list(lines(header)) == ["5", "0", "63"]  # the width is 64
    table = encoded(MODEL, state, scheme).values.numpy()
    for dim, (x, y) in lines(header).items():
        np.testing.assert_array_equal(y, table[x.astype(int), int(dim)])
        assert x[-1] == 29  # the axis is the same, whether or not there is a value
    assert "sign" in curves(MODEL, state).sentence()
    beyond = PositionsState(a="learned", b=NOTHING, length=30, max_len=20, part="24,0,6,0")
    assert "never changes sign" in curves(MODEL, beyond).sentence()
    first, second = (
        curves(MODEL, zoomed).sentence()
        for zoomed in (PositionsState(a="sinusoidal", dims="0", part=part) for part in ("0,0,5,0", "0,0,0,0"))
    )
    assert "dimension 0 changes sign once" in first
    assert "dimension 0 changes sign 20 times" in second
    empty = PositionsState(a=name, dims="")
    assert "No dimension is chosen" in curves(MODEL, empty).sentence()


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
    result = wavelengths(MODEL, state)
    said = result.sentence()
    assert said.count("positions;") == 1
    assert f"32 waves of 6.28 to 47,117 positions; from position 0 to 63, {expected} complete a turn" in said
    other = wavelengths(MODEL, PositionsState(a="learned", b="rope", width=3, length=8)).sentence()
    assert "B: rope: 1 wave of 6.28 positions; from position 0 to 7, 1 completes a turn." in other
    assert "A: learned is not made of waves." in other
    assert list(result.table().columns) == ["wavelength of A: sinusoidal", "wavelength of B: rope"]
    assert [side.scheme.name for side in result.sides] == ["sinusoidal", "rope"]


@given(dims=st.lists(st.integers(0, 20), unique=True, max_size=CURVES), dim=st.integers(0, 20))
def test_a_click_adds_a_dimension_or_takes_it_away_and_others_keep_their_colours(dims, dim):
    after = [int(word) for word in toggled(dims, dim).split()]
    assert len(after) <= CURVES
    assert (dim in after) != (dim in dims)
    moved = [d for d in set(dims) & set(after) if dims.index(d) != after.index(d)]
    assert len(moved) <= 1
    assert dimensions(PositionsState(dims=" ".join(map(str, after))), 21) == after


def test_the_script_of_encodings_gives_the_numbers_shown_of_both():
    state = PositionsState(a="sinusoidal", b="learned", length=15, max_len=12, width=7)
    result = curves(MODEL, state)
    values = _run(result.recipe())["values"]
    for side in result.sides:
        assert torch.equal(values[side.scheme.side], side.values[: side.defined])
    assert len(values["B"]) == 12


@pytest.mark.parametrize("name", ["alibi", "t5"])
def test_the_script_of_a_bias_gives_the_numbers_shown(name):
    state, scheme = of(name, length=12)
    _, drawn = cells("positions_bias_a", state)
    np.testing.assert_array_equal(_run(bias(MODEL, state, scheme).recipe())["values"]["A"].float().numpy(), drawn)


def test_the_script_of_the_waves_gives_the_numbers_shown_of_both():
    state = PositionsState(a="sinusoidal", b="rope", width=9)
    result = wavelengths(MODEL, state)
    waves = _run(result.recipe())["waves"]
    assert all(torch.equal(waves[side.scheme.side], side.lengths) for side in result.sides)
    assert len(waves["A"]) != len(waves["B"])


def _run(script: str) -> dict:
    scope: dict = {}
    exec(script, scope)
    return scope


class Toy(Positional):
    """A scheme that enters in two places."""

    about = About("absolute", "it goes on", ("d_model", "num_heads"), (), "nobody")

    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.scales = nn.Parameter(torch.arange(1.0, self.num_heads + 1))

    def encode(self, seq_len):
        return torch.arange(seq_len * self.d_model, dtype=torch.float64).reshape(seq_len, self.d_model)

    def bias_at(self, distance):
        return self.scales.view(-1, *[1] * distance.dim()) * distance


@pytest.mark.parametrize("length", [2, 70, 4096])
def test_a_scheme_of_a_newcomer_needs_no_more_than_its_class(monkeypatch, length):
    monkeypatch.setitem(POSITIONAL, "toy", Toy)
    state, scheme = of("toy", length=length, width=3, heads=2)
    for name in ("encode_a", "bias_a", "distance_a", "curves", "wavelengths"):
        header, numbers = DRAWN[f"positions_{name}"].content(MODEL, state)
        assert decode(encode(header, numbers))[0]  # which refuses NaN
    assert encoded(MODEL, state, scheme).sentence()
    assert bias(MODEL, state, scheme).about_distance()
    assert wavelengths(MODEL, state).sentence() == "A: toy is not made of waves."


@pytest.mark.crossed(
    name=[name for name in PICTURES if name.startswith("positions_")],
    scheme=POSITIONAL,
    sizes=[{"length": 2, "width": 1, "heads": 1, "max_len": 2}, {"base": 2.0, "heads": 3}],
)
def test_every_picture_has_something_for_every_scheme(name, scheme, sizes):
    for sides in ({"a": scheme}, {"b": scheme}):
        state = PositionsState(**{"a": "none", "b": NOTHING, **sides, **sizes})
        header, _ = decode(made(name, query_of(((MODEL, ""), (state, "positions_")))))
        json.dumps(header, allow_nan=False)
