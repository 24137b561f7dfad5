"""`@pytest.mark.crossed(name=values, ...)`: a test for combinations of values, so many that each pair of values occurs.

With `--all` it is run for every combination. Faults that need three particular values at once are rare, and every pair
is in a fraction of all combinations: in 15 instead of 90.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from allpairspy import AllPairs


def combined(axes: Mapping[str, Iterable[Any]], *, full: bool = False) -> list[tuple[Any, ...]]:
    """Combinations of these values in which each pair of two axes' values occurs; all combinations if `full`."""
    values = [list(axis) for axis in axes.values()]
    if full or len(values) < 2:
        return list(product(*values))
    return [tuple(row) for row in AllPairs(values)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", dest="all_combinations", help="full cross products in place of pairs"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "crossed(**axes): a parameter for each axis, its values crossed in pairs")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for marker in metafunc.definition.iter_markers("crossed"):
        rows: Sequence[tuple[Any, ...]] = combined(marker.kwargs, full=metafunc.config.getoption("all_combinations"))
        metafunc.parametrize(list(marker.kwargs), rows)
