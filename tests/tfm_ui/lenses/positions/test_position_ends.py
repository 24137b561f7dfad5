"""Views of the Positions lens at the ends of all ranges, and the scripts that give their numbers."""

import itertools
import json
from urllib.parse import urlencode

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import MODEL, asks, naive
from tests.tfm_ui.payloads import decode
from tfm_core import POSITIONAL
from tfm_ui.lenses.positions.beyond import scores as beyond_scores
from tfm_ui.lenses.positions.beyond import turns as beyond_turns
from tfm_ui.lenses.positions.beyond import vectors as beyond
from tfm_ui.lenses.positions.pairs import MEASURES
from tfm_ui.lenses.positions.schemes import chosen, schemes
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.why import shift as why_shift
from tfm_ui.lenses.positions.why import similarity as why
from tfm_ui.lenses.positions.why import turned as why_turned
from tfm_ui.lenses.positions.why import unique as why_unique
from tfm_ui.pictures.registry import PICTURES, Drawing, made

OURS = ("pairs", "distances", "shift_matrix", "shift_errors", "turned", "unique", "beyond", "beyond_scores")
OURS += ("beyond_turns", "clocks_a", "clocks_b")


@pytest.mark.parametrize("a", POSITIONAL)
@pytest.mark.parametrize("b", ["nothing", "learned", "rope", "t5"])
@pytest.mark.parametrize("measure", MEASURES)
def test_every_recipe_gives_the_numbers_on_screen(a, b, measure):
    state, scope = asks(a, b, measure=measure, head=2, shift=3), {}
    alike = why.similarity(MODEL, state)
    if alike.sides:
        exec(alike.recipe, scope)
        for scheme, found in alike.sides:
            expected = naive(scheme.name, state)
            known = len(scope[f"pairs_{scheme.side}"])
            np.testing.assert_allclose(scope[f"pairs_{scheme.side}"], expected[:known, :known], atol=2e-5)
            there = ~found.found.mean.isnan()
            np.testing.assert_allclose(scope[f"distances_{scheme.side}"].mean, found.found.mean[there], atol=2e-5)
    if measure != MEASURES[0]:
        return
    shift = why_shift.shift(MODEL, state)
    exec(shift.recipe, scope)
    for scheme, left in shift.sides:
        if left:
            torch.testing.assert_close(scope[f"left_{scheme.side}"].at, left.at, rtol=1e-4, atol=1e-5)
    if matrix := why_shift.matrix_of(MODEL, state):
        exec(matrix.recipe, scope)
        assert torch.equal(scope["matrix"].float(), matrix.matrix)
    if turned := why_turned.turned(MODEL, state):
        exec(turned.recipe, scope)
        assert torch.equal(scope["scores"], turned.scores)
        torch.testing.assert_close(scope["added"], turned.added[~turned.added.isnan()].reshape(scope["added"].shape))
    nearest = why_unique.unique(MODEL, state)
    exec(nearest.recipe, scope)
    assert all(scope[f"nearest_{s.side}"].distance == found.distance for s, found in nearest.sides if found)
    past = beyond.beyond(MODEL, state)
    exec(past.recipe, scope)
    for side in past.sides:
        known = ~side.norm.isnan()
        torch.testing.assert_close(scope[f"norm_{side.scheme.side}"], side.norm[known])
        torch.testing.assert_close(scope[f"alike_{side.scheme.side}"], side.alike[known])
    scores = beyond_scores.scores(MODEL, state)
    exec(scores.recipe, scope)
    for scheme, _, values in scores.sides:
        torch.testing.assert_close(scope[f"scores_{scheme.side}"].float(), values)
    waves = beyond_turns.turns(MODEL, state)
    exec(waves.recipe, scope)
    assert all(torch.equal(scope[f"waves_{scheme.side}"], found) for scheme, found in waves.sides)
    if scheme := chosen(MODEL, state, "A", "rotate"):
        turning = clocks(state, scheme)
        exec(turning.recipe, scope)
        torch.testing.assert_close(scope["query"], turning.query)
        torch.testing.assert_close(scope["key"], turning.key)


EXTREMES = [
    {"length": 2, "width": 1, "heads": 1, "max_len": 2},
    {"length": 4096, "width": 3, "heads": 32, "base": 2, "max_len": 4096, "shift": 4095, "pair": 255},
    {"length": 300, "width": 512, "base": 1_000_000, "max_len": 2, "position": 4095, "head": 32},
    {"length": 257, "width": 2, "max_len": 3, "shift": 2, "square": "250,3,5,6", "measure": "distance"},
]


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
@pytest.mark.parametrize("a", POSITIONAL)
def test_every_picture_is_drawn_at_the_ends_of_all_ranges(a, extreme):
    def refuse(constant: str):
        raise AssertionError(f"{constant} breaks the browser")

    for b, name in itertools.product(("nothing", "learned"), OURS):
        query = urlencode({PREFIX + key: value for key, value in {"a": a, "b": b, **extreme}.items()})
        data = made(f"positions_{name}", query)
        header, numbers = decode(data)
        json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")], parse_constant=refuse)
        assert not np.isinf(np.frombuffer(numbers, np.float32)).any()
        assert "nan" not in header["about"].lower()


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
@pytest.mark.parametrize(("a", "b"), [("sinusoidal", "learned"), ("rope", "none"), ("alibi", "t5")])
def test_every_table_can_be_had_at_the_ends_of_all_ranges(a, b, extreme):
    state = PositionsState(a=a, b=b, view="why", **extreme)
    views = [why.similarity, why_shift.shift, why_unique.unique, beyond.beyond, beyond_scores.scores]
    for view in (*views, beyond_turns.turns, why_turned.turned, why_shift.matrix_of):
        seen = view(MODEL, state)
        if seen is None:
            continue
        columns = seen.table().columns
        assert len(set(columns)) == len(columns)
        assert "nan" not in seen.sentence.lower()
        assert all(getattr(seen, "laws", dict)().values() or [True]) or view is why.similarity
    if scheme := chosen(MODEL, state, "A", "rotate"):
        seen = clocks(state, scheme)
        assert len(seen.table()) == seen.pairs
        assert all(seen.laws().values())


def test_a_scheme_is_asked_for_by_what_it_depends_on_alone():
    alibi, learned = schemes(MODEL, asks("alibi", "learned", base=99.0))
    assert alibi.spec == schemes(MODEL, asks("alibi", base=5.0, max_len=40))[0].spec
    assert (learned.spec.max_len, learned.spec.base) == (12, 10000.0)


def test_all_pictures_of_these_views_are_known_by_their_states():
    for name in OURS:
        drawing = Drawing(f"positions_{name}", ((MODEL, ""), (asks("rope", "sinusoidal"), PREFIX)))
        assert decode(made(drawing.name, drawing.query))[0]["query"] == drawing.query
        assert f"positions_{name}" in PICTURES
