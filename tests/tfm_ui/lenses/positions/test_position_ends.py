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
from tfm_ui.lenses.positions.beyond.scores import scores
from tfm_ui.lenses.positions.beyond.unfinished_waves import unfinished_waves
from tfm_ui.lenses.positions.beyond.vectors import beyond
from tfm_ui.lenses.positions.schemes import chosen, schemes
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.state import MEASURES, PREFIX, PositionsState
from tfm_ui.lenses.positions.why.shift import matrix_of, shift
from tfm_ui.lenses.positions.why.similarity import similarity
from tfm_ui.lenses.positions.why.turned import turned
from tfm_ui.lenses.positions.why.unique import unique
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.registry import PICTURES, made

OURS = ("pairs", "distances", "shift_matrix", "shift_errors", "turned", "unique", "beyond", "beyond_scores")
OURS += ("beyond_turns", "clocks_a", "clocks_b")


@pytest.mark.crossed(a=POSITIONAL, b=["nothing", "learned", "rope", "t5"], measure=MEASURES)
def test_every_recipe_gives_the_numbers_on_screen(a, b, measure):
    state = asks(a, b, measure=measure, head=2, shift=3)
    alike = similarity(MODEL, state)
    if alike.sides:
        scope = _run(alike.recipe())
        for scheme, table in alike.sides:
            expected, pairs = naive(scheme.name, state), scope["pairs"][scheme.side]
            np.testing.assert_allclose(pairs, expected[: len(pairs), : len(pairs)], atol=2e-5)
            there = ~table.by_distance.mean.isnan()
            by_distance = scope["distances"][scheme.side]
            np.testing.assert_allclose(by_distance.mean, table.by_distance.mean[there], atol=2e-5)
    if measure != MEASURES[0]:
        return
    shifted = shift(MODEL, state)
    left_over = _run(shifted.recipe())["left"]
    for scheme, left in shifted.sides:
        if left:
            torch.testing.assert_close(left_over[scheme.side].at, left.at, rtol=1e-4, atol=1e-5)
    if matrix := matrix_of(MODEL, state):
        assert torch.equal(_run(matrix.recipe())["matrix"].float(), matrix.matrix)
    if rotated := turned(MODEL, state):
        scope = _run(rotated.recipe())
        assert torch.equal(scope["scores"], rotated.scores)
        defined = rotated.added[~rotated.added.isnan()]
        torch.testing.assert_close(scope["added"], defined.reshape(scope["added"].shape))
    nearest = unique(MODEL, state)
    scope = _run(nearest.recipe())
    assert all(scope["nearest"][scheme.side].distance == closest.distance for scheme, closest in nearest.sides)
    past = beyond(MODEL, state)
    scope = _run(past.recipe())
    for side in past.sides:
        defined = ~side.norm.isnan()
        torch.testing.assert_close(scope["norm"][side.scheme.side], side.norm[defined])
        assert (side.scheme.side in scope["alike"]) == (side.alike is not None)
        if side.alike is not None:
            torch.testing.assert_close(scope["alike"][side.scheme.side], side.alike[defined])
    by_distance = scores(MODEL, state)
    scope = _run(by_distance.recipe())
    for scheme, _, values in by_distance.sides:
        torch.testing.assert_close(scope["scores"][scheme.side].float(), values)
    waves = unfinished_waves(MODEL, state)
    scope = _run(waves.recipe())
    assert all(torch.equal(scope["waves"][scheme.side], lengths) for scheme, lengths in waves.sides)
    if scheme := chosen(MODEL, state, "A", "rotate"):
        hands = clocks(state, scheme)
        scope = _run(hands.recipe())
        torch.testing.assert_close(scope["query"], hands.query)
        torch.testing.assert_close(scope["key"], hands.key)


def _run(script: str) -> dict:
    scope: dict = {}
    exec(script, scope)
    return scope


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
    for view in (similarity, shift, unique, beyond, scores, unfinished_waves, turned, matrix_of):
        result = view(MODEL, state)
        if result is None:
            continue
        columns = result.table().columns
        assert len(set(columns)) == len(columns)
        assert "nan" not in result.sentence().lower()
        assert all(result.laws().values()) or view is similarity
    if scheme := chosen(MODEL, state, "A", "rotate"):
        hands = clocks(state, scheme)
        assert len(hands.table()) == hands.pairs
        assert all(hands.laws().values())


def test_a_scheme_is_asked_for_by_what_it_depends_on_alone():
    alibi, learned = schemes(MODEL, asks("alibi", "learned", base=99.0))
    assert alibi.spec == schemes(MODEL, asks("alibi", base=5.0, max_len=40))[0].spec
    assert (learned.spec.max_len, learned.spec.base) == (12, 10000.0)


def test_all_pictures_of_these_views_are_known_by_their_states():
    for name in OURS:
        drawing = Drawing(f"positions_{name}", ((MODEL, ""), (asks("rope", "sinusoidal"), PREFIX)))
        assert decode(made(drawing.name, drawing.query))[0]["query"] == drawing.query
        assert f"positions_{name}" in PICTURES
