"""Views of the Positions lens at the ends of all ranges, and the scripts that give their numbers."""

import itertools

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import MODEL, asks, drawn, left_by, naive
from tfm_core import POSITIONAL
from tfm_ui.lenses.positions.beyond import Beyond, BeyondScores, BeyondTurns
from tfm_ui.lenses.positions.panel import WavesPanel
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.bias import BiasA
from tfm_ui.lenses.positions.see.clocks import ClocksA, ClocksB, Wavelengths
from tfm_ui.lenses.positions.see.encode import Curves
from tfm_ui.lenses.positions.state import MEASURES, PREFIX, PositionsState
from tfm_ui.lenses.positions.why.added import ShiftErrors, ShiftMatrix, Unique
from tfm_ui.lenses.positions.why.pairs import Distances, Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.live.tables import by_distance


def compare_pairs(shown: Pairs, left: dict) -> None:
    for scheme, table in shown.sides:
        expected, pairs = naive(scheme.name, shown.state), left["pairs"][scheme.side]
        np.testing.assert_allclose(pairs, expected[: len(pairs), : len(pairs)], atol=2e-5)
        there = ~table.by_distance.mean.isnan()
        np.testing.assert_allclose(left["distances"][scheme.side].mean, table.by_distance.mean[there], atol=2e-5)


def compare_shifts(shown: ShiftErrors, left: dict) -> None:
    for scheme, error in shown.sides:
        if error:
            torch.testing.assert_close(left["left"][scheme.side].at, error.at, rtol=1e-4, atol=1e-5)


def compare_turned(shown: Turned, left: dict) -> None:
    assert torch.equal(left["scores"], shown.scores)
    defined = shown.added[~shown.added.isnan()]
    torch.testing.assert_close(left["added"], defined.reshape(left["added"].shape))


def compare_vectors(shown: Beyond, left: dict) -> None:
    for side in shown.sides:
        name, defined = side.scheme.side, ~side.norm.isnan()
        torch.testing.assert_close(left["norm"][name], side.norm[defined])
        assert (name in left["alike"]) == (side.alike is not None)
        if side.alike is not None:
            torch.testing.assert_close(left["alike"][name], side.alike[defined])


def compare_scores(shown: BeyondScores, left: dict) -> None:
    for scheme, _, values in shown.sides:
        torch.testing.assert_close(left["scores"][scheme.side].float(), values)


def compare_hands(shown: ClocksA, left: dict) -> None:
    torch.testing.assert_close((left["query"], left["key"]), shown.hands)


def compare_bias(shown: BiasA, left: dict) -> None:
    whole = slice(0, shown.state.length)
    for matrix, values in zip(left["values"]["A"], shown.values, strict=True):
        assert torch.equal(matrix, by_distance(values)(whole, whole))


def compare_curves(shown: Curves, left: dict) -> None:
    for side in shown.sides:
        assert torch.equal(left["values"][side.scheme.side], side.values[: side.defined])


def compare_waves(shown: WavesPanel, left: dict) -> None:
    assert all(torch.equal(left["waves"][scheme.side], lengths) for scheme, lengths in shown.sides)


# panel -> what compares it with the names that its recipe leaves
PANELS = {
    Pairs: compare_pairs,
    ShiftErrors: compare_shifts,
    ShiftMatrix: lambda shown, left: torch.testing.assert_close(left["matrix"].float(), shown.matrix, rtol=0, atol=0),
    Turned: compare_turned,
    Unique: lambda shown, left: [
        torch.testing.assert_close(left["nearest"][scheme.side].distance, closest.distance, rtol=0, atol=0)
        for scheme, closest in shown.sides
    ],
    Beyond: compare_vectors,
    BeyondScores: compare_scores,
    **dict.fromkeys([BeyondTurns, Wavelengths], compare_waves),
    BiasA: compare_bias,
    Curves: compare_curves,
    ClocksA: compare_hands,
}


@pytest.mark.crossed(a=POSITIONAL, b=["nothing", "learned", "rope", "t5"], measure=MEASURES, width=[6, 7])
def test_every_recipe_gives_the_numbers_on_screen(a, b, measure, width):
    state = asks(a, b, measure=measure, width=width, head=2, shift=3)
    for panel in PANELS if measure == MEASURES[0] else [Pairs]:
        shown = panel(MODEL, state)
        if shown.shown:
            PANELS[panel](shown, left_by(shown.recipe()))


EXTREMES = [
    {"length": 2, "width": 1, "heads": 1, "max_len": 2},
    {"length": 4096, "width": 3, "heads": 32, "base": 2, "max_len": 4096, "shift": 4095, "pair": 255},
    {"length": 300, "width": 512, "base": 1_000_000, "max_len": 2, "position": 4095, "head": 32},
    {"length": 257, "width": 2, "max_len": 3, "shift": 2, "square": "250,3,5,6", "measure": "distance"},
]


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
@pytest.mark.parametrize("a", POSITIONAL)
def test_every_picture_is_drawn_at_the_ends_of_all_ranges(a, extreme):
    for b, panel in itertools.product(("nothing", "learned"), (*PANELS, Distances, ClocksB)):
        state = PositionsState(a=a, b=b, **extreme)
        header, numbers = drawn(panel.name.removeprefix(PREFIX), state)  # which refuses NaN in the header
        assert not np.isinf(np.frombuffer(numbers, np.float32)).any()
        assert "nan" not in header["about"].lower()


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
@pytest.mark.parametrize(("a", "b"), [("sinusoidal", "learned"), ("rope", "none"), ("alibi", "t5")])
def test_every_table_can_be_had_at_the_ends_of_all_ranges(a, b, extreme):
    state = PositionsState(a=a, b=b, view="why", **extreme)
    for panel in PANELS:
        shown = panel(MODEL, state)
        if shown.shown:
            columns = shown.table().columns
            assert len(set(columns)) == len(columns)
            assert "nan" not in shown.sentence().lower()
            assert all(shown.laws().values()) or panel is Pairs
            assert panel is not ClocksA or len(shown.table()) == shown.pairs


def test_a_scheme_is_asked_for_by_what_it_depends_on_alone():
    alibi, learned = schemes(MODEL, asks("alibi", "learned", base=99.0))
    assert alibi.spec == schemes(MODEL, asks("alibi", base=5.0, max_len=40))[0].spec
    assert (learned.spec.max_len, learned.spec.base) == (12, 10000.0)
