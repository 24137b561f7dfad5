"""The view "why" of the Positions lens: what is drawn and said is what was measured."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import MODEL, asks, naive
from tests.tfm_ui.pictures.charts import by_heading
from tfm_core import POSITIONAL, apply_rotary, sinusoidal_encoding
from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions import LENS
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import MEASURES
from tfm_ui.lenses.positions.why.added import ShiftErrors, ShiftMatrix, Unique
from tfm_ui.lenses.positions.why.pairs import Distances, Pairs, pair_table
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures.lines import Chart, Line, figure
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.positions.clocks import spaced
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", [name for name in POSITIONAL if name != "none"])
def test_the_map_and_the_curves_are_the_table_of_all_pairs(name, measure):
    state = asks(name, measure=measure, head=2)
    expected = naive(name, state)
    header, numbers = Pairs.content(MODEL, state)
    np.testing.assert_allclose(numbers[0], expected, atol=2e-5)
    assert header["blank"] == "not defined"
    by_distance = Pairs(MODEL, state).sides[0][1].by_distance
    for place, distance in enumerate(range(-19, 20)):
        values = np.diagonal(expected, distance)
        values = values[~np.isnan(values)]
        for line, reduce in ((by_distance.mean, np.mean), (by_distance.least, np.min), (by_distance.most, np.max)):
            want = reduce(values) if len(values) else np.nan
            assert line[place].item() == pytest.approx(want, abs=2e-5, nan_ok=True)
    (x, y), *_ = by_heading(Distances.content(MODEL, state)[0]).values()
    assert x.tolist() == list(range(-19, 20))
    np.testing.assert_allclose(y, by_distance.mean, rtol=1e-6)


@pytest.mark.parametrize("name", ["sinusoidal", "learned", "rope", "alibi", "t5"])
def test_a_large_table_is_pooled_to_the_value_furthest_from_0(name):
    (scheme,) = schemes(MODEL, asks(name, length=700, max_len=650, width=8))
    table = pair_table(scheme.spec, 700, MEASURES[0], 0)
    assert table.defined == (650 if name == "learned" else 700)
    assert table.measured == 374  # of 700
    part = part_of(WHOLE, 700, 700)
    np.testing.assert_allclose(table.pooled(part), pooled(table.cells, part), atol=2e-3 * table.top)


def test_measured_rows_hold_the_ends_and_every_distance():
    at = spaced(1000, 256)
    assert (len(at), at[0], at[-1]) == (256, 0, 999)
    assert (at.diff() > 0).all()
    assert torch.equal(spaced(7, 256), torch.arange(7))
    (scheme,) = schemes(MODEL, asks("sinusoidal"))
    assert not pair_table(scheme.spec, 1000, MEASURES[0], 0).by_distance.mean.isnan().any()


def test_of_a_short_table_its_own_rows_are_measured():
    result = Pairs(MODEL, asks("learned", "sinusoidal", length=4096, max_len=3, width=4))
    rows = result.sides[0][0].module.encode(3)
    same = (rows * rows).sum(1)
    assert f"differ by up to {(same.max() - same.min()).item():.3f}" in result.sentence()  # at distance 0
    assert Distances(result.model, result.state).about_measured() == (
        "A: learned is measured on all 9 pairs that are defined. B: sinusoidal is measured on "
        "262,144 of 16,777,216 pairs: every pair of 64 chosen rows."
    )
    assert Distances(MODEL, asks("rope", "alibi")).about_measured() == "Measured on all 400 pairs."


def test_a_decoder_is_told_of_the_keys_that_it_sees():
    state = asks("t5", "sinusoidal", length=200)
    decoder = ModelState(seed=11, architecture="decoder")
    bias = schemes(decoder, state)[0].module.weight[:, 0]
    far, near = (f"{bias[bucket].item():.3f}".replace("-", "−") for bucket in (31, 1))
    assert f"{near} at −1, {far} at −199;" in Pairs(decoder, state).sentence()
    assert " at 199;" in Pairs(MODEL, state).sentence()
    nearly = Pairs(MODEL, asks("sinusoidal", length=49, width=3, base=1e6)).sentence()
    assert "is 1.000 at n − m = 0" in nearly  # not "1.000 to 1.000"


def test_what_must_be_equal_at_equal_distance_is_and_an_odd_width_is_not():
    even = Pairs(MODEL, asks("sinusoidal", "rope", length=64, width=64))
    assert list(even.laws().values()) == [True, True]
    odd = Pairs(MODEL, asks("sinusoidal", length=1024, width=7, base=50.0))
    assert list(odd.laws().values()) == [False]
    assert "Its last sine has no cosine" in odd.sentence()
    learned = Pairs(MODEL, asks("learned", "alibi"))
    assert list(learned.laws()) == ["B: alibi: equal at equal distance, to float32’s rounding"]
    assert "so the distance alone does not tell" in learned.sentence()
    assert "It is not trained" in learned.sentence()
    none = Pairs(MODEL, asks("none"))
    assert (none.sides, none.sentence()) == ([], "A: none says nothing of positions: all pairs are alike.")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (asks("sinusoidal", length=64, width=64, shift=5), "one matrix shifts 59 positions by k = 5"),
        (asks("sinusoidal", width=1), "which no linear map can shift"),
        (asks("sinusoidal", width=1, shift=0), "which the identity gives to any table"),
        (asks("sinusoidal", width=5), "Dimension 4, a sine without its cosine, is left out"),
        (asks("learned", width=16), "so some matrix fits any table"),
        (
            asks("learned", length=200, max_len=200, width=4),
            "the best matrix, by least squares over 195 positions, leaves errors of up to",
        ),
        (asks("learned", length=20, max_len=5, shift=15), "has 5 rows, no two of them 15 apart"),
        (asks("learned", length=200, max_len=200, width=4, shift=0), "which the identity gives to any table"),
        (asks("sinusoidal", length=2, shift=1), "one matrix shifts 1 position by"),
    ],
)
def test_the_law_of_shifts_says_what_was_found(state, said):
    result = ShiftErrors(MODEL, state)
    assert said in result.sentence()
    assert all(result.laws().values())
    if "least squares" in said:
        assert result.sides[0][1].largest > 0.1


def test_the_matrix_of_a_shift_is_the_paper_s():
    state = asks("sinusoidal", width=6, shift=4, pair=1, base=30.0)
    result = ShiftMatrix(MODEL, state)
    angle = 4 / 30 ** (2 / 6)
    header, numbers = ShiftMatrix.content(MODEL, state)
    assert numbers[0, 2:4, 2:4].flatten().tolist() == pytest.approx(
        [math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)]
    )
    assert (numbers[0] != 0).sum() == 12
    assert header["picked"] == (2, 2)
    assert f"kθ = {angle:.3f} rad" in result.sentence()
    assert f"{math.cos(angle):.3f} & " in result.formula
    assert not ShiftMatrix(MODEL, asks("learned", "rope")).is_shown
    assert ShiftMatrix(MODEL, replace(state, pair=99)).pair == 2


def test_turned_scores_lie_on_a_line_and_added_ones_do_not():
    result = Turned(MODEL, asks("rope", "sinusoidal", length=100, width=16))
    assert list(result.laws().values()) == [True]
    assert result.exact < 1e-10
    assert result.by_steps(result.added).spread > 1
    query, key = drawn_pair(16, 11)
    table, row = result.table(), 777
    m, n = table["m"][row], table["n"][row]
    rows = sinusoidal_encoding(100, 16)
    assert table["score, B: sinusoidal added"][row] == pytest.approx(
        ((query + rows[m]) @ (key + rows[n])).item(), abs=1e-4
    )
    rotated = apply_rotary(torch.stack([query, key]), torch.tensor([m, n]))
    assert table["score, A: rope"][row] == pytest.approx((rotated[0] @ rotated[1]).item(), abs=1e-4)
    header, _ = Turned.content(MODEL, asks("rope", "sinusoidal", length=100, width=16))
    (x, y), (_, added) = by_heading(header).values()
    assert len(x) == len(y) == len(added) == 50**2
    assert x[row] == n - m
    alone = Turned(MODEL, asks("rope"))
    assert (alone.named, alone.beside.width) == ("sinusoidal", 6)
    assert not Turned(MODEL, asks("sinusoidal", "t5")).is_shown
    learned = Turned(MODEL, asks("rope", "learned"))
    assert "(it has 12 rows)" in learned.sentence()
    few = Turned(MODEL, asks("rope", "learned", length=4096, max_len=64))
    assert "B: learned has 64 rows: of these positions the first alone." in few.sentence()
    drawn = by_heading(Turned.content(MODEL, asks("rope", "learned"))[0])
    assert np.isfinite(drawn["(q + PE(m))·(k + PE(n))", "B: learned"][1]).all()


def test_where_all_neighbours_are_equally_near_none_is_called_the_nearest():
    result = Unique(MODEL, asks("sinusoidal", length=64, width=64))
    distances = torch.pdist(sinusoidal_encoding(64, 64).double())
    assert int((distances < distances.min() + 1e-6).sum()) == 63
    assert result.sentence() == (
        "A: sinusoidal: of 2,016 pairs of positions all 63 pairs of neighbours are equally near, to float32’s "
        f"rounding: {distances.min().item():.3f} apart."
    )


def test_the_nearest_two_positions_are_named():
    result = Unique(MODEL, asks("sinusoidal", "learned", length=300, width=2))
    (_, waves), (_, noise) = result.sides
    first, second = waves.pair
    rows = sinusoidal_encoding(300, 2).double()
    assert (rows[first] - rows[second]).norm().item() == pytest.approx(torch.pdist(rows).min().item())
    assert (first, second) in {(i, i + 44) for i in range(256)}
    assert (
        f"all 256 pairs that stand 44 apart are equally near, to float32’s rounding: {waves.distance:.3f} apart."
        in result.sentence()
    )
    assert f"the nearest, {noise.pair[0]} and {noise.pair[1]}, are {noise.distance:.3f} apart." in result.sentence()
    assert "of 66 pairs of positions (the 12 that it has)" in result.sentence()
    assert len(noise.within) == 12
    assert all(result.laws().values())
    assert "of 1 pair of positions (the 2 that it has)" in Unique(MODEL, asks("learned", max_len=2)).sentence()


def test_a_cloud_of_small_dots_has_signs_in_its_legend_that_can_be_seen():
    """The signs are as large as Plotly's own, whatever the dots are; chart.css makes them opaque."""
    dots, line = (Chart("x", "y", [Line("A", [0, 1], [0, 1], "head 1", style)]) for style in ("dots", "solid"))
    assert figure([dots])["layout"]["legend"]["itemsizing"] == "constant"
    assert "itemsizing" not in figure([line])["layout"]["legend"]


@pytest.mark.parametrize("claim", ["shift matrix", "shift error", "told apart"])
def test_a_scheme_that_adds_no_vector_is_said_to_have_no_place_in_a_picture_of_vectors(claim):
    shown = LENS.blocks(MODEL, replace(asks("sinusoidal", "rope"), claim=claim))
    notes = [block.text for block in shown if isinstance(block, Note)]
    assert notes == ["B: rope adds no vector to tokens, so it has no place in this picture."]
