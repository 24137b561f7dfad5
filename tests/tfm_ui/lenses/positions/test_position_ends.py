"""Views of the Positions lens at the ends of all ranges."""

import itertools

import numpy as np
import pytest

from tests.tfm_ui.lenses.positions.position_toys import MODEL, asks, drawn
from tfm_core import POSITIONAL
from tfm_ui.lenses.positions import LENS
from tfm_ui.lenses.positions.beyond import Beyond, BeyondScores, BeyondTurns
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.bias import BiasA
from tfm_ui.lenses.positions.see.clocks import ClocksA, Wavelengths
from tfm_ui.lenses.positions.see.encode import Curves
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.why.added import ShiftErrors, ShiftMatrix, Unique
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.turned import Turned

PANELS = [Pairs, ShiftErrors, ShiftMatrix, Turned, Unique, Beyond, BeyondScores, BeyondTurns]
PANELS += [Wavelengths, BiasA, Curves, ClocksA]
PICTURES = {name for view in ("see", "why", "beyond") for name in LENS.views[view].pictures}
EXTREMES = [
    {"length": 2, "width": 1, "heads": 1, "max_len": 2},
    {"length": 4096, "width": 3, "heads": 32, "base": 2, "max_len": 4096, "shift": 4095, "pair": 255},
    {"length": 300, "width": 512, "base": 1_000_000, "max_len": 2, "position": 4095, "head": 32},
    {"length": 257, "width": 2, "heads": 3, "max_len": 3, "shift": 2, "square": "250,3,5,6", "measure": "distance"},
]


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
@pytest.mark.parametrize("a", POSITIONAL)
def test_every_picture_is_drawn_at_the_ends_of_all_ranges(a, extreme):
    for (side, other), name in itertools.product(((a, "nothing"), (a, "learned"), ("none", a)), sorted(PICTURES)):
        state = PositionsState(a=side, b=other, **extreme)
        header, numbers = drawn(name.removeprefix(PREFIX), state)  # which refuses NaN in the header
        assert not np.isinf(np.frombuffer(numbers, np.float32)).any()
        assert "nan" not in header.get("about", "").lower()


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
            assert panel is not ClocksA or len(shown.table()) == shown.turns.pairs


def test_a_scheme_is_asked_for_by_what_it_depends_on_alone():
    alibi, learned = schemes(MODEL, asks("alibi", "learned", base=99.0))
    assert alibi.spec == schemes(MODEL, asks("alibi", base=5.0, max_len=40))[0].spec
    assert (learned.spec.max_len, learned.spec.base) == (12, 10000.0)
