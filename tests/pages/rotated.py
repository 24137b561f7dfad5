"""A pytest plugin: `@pytest.mark.rotated(each=2, page=PAGES, query=QUERIES)` is each value in at least `each` rows.

For what cheaper tiers hold for all combinations: here each value meets some values of the other axes. With `--all` the
test is run for every combination of the first two axes; further axes take turns.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from random import Random
from typing import Any

import pytest


def rotated(axes: Mapping[str, Iterable[Any]], *, each: int, full: bool = False) -> list[tuple[Any, ...]]:
    """Rows with a value of each axis; no pair of values of the first two axes is in two rows."""
    first, second, *others = (list(axis) for axis in axes.values())
    both = list(product(first, second)) if full else pairs(first, second, each)
    turns = [in_turn(axis, len(both), number) for number, axis in enumerate(others)]
    return [(*pair, *more) for pair, *more in zip(both, *turns, strict=True)]


def pairs(first: list[Any], second: list[Any], each: int) -> list[tuple[Any, Any]]:
    """Each value of the longer axis with `each` of the shorter one, which go round."""
    if len(first) < len(second):
        return [(left, right) for right, left in pairs(second, first, each)]
    each, length = min(each, len(second)), len(second)
    return [(left, second[(at * each + step) % length]) for at, left in enumerate(first) for step in range(each)]


def in_turn(axis: list[Any], count: int, seed: int) -> list[Any]:
    """`count` values of an axis, each as often as any other, in an order that is the same each time."""
    mixed, draw = [], Random(seed)
    while len(mixed) < count:
        mixed += draw.sample(axis, len(axis))
    return mixed[:count]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rotated(each, **axes): each value of each axis in at least `each` rows")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for mark in metafunc.definition.iter_markers("rotated"):
        axes = {name: values for name, values in mark.kwargs.items() if name != "each"}
        rows = rotated(axes, each=mark.kwargs["each"], full=metafunc.config.getoption("all_combinations"))
        metafunc.parametrize(list(axes), rows)
