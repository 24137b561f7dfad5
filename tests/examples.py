"""How many examples a law is tested with: those that hypothesis makes up, and those that are written down.

A pytest plugin. `--cases 10` runs at most 10 cases of each test, spread over all that it has, and others each time;
`--randomly-seed` brings the same ones back. Without it, all are run.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import TypeVar

import pytest
from hypothesis import settings

LEAST = 4  # the first that hypothesis makes up is the smallest there is, and tells little

T = TypeVar("T")


def shared_by(count: int) -> settings:
    """Settings for one of `count` tests of the same law: together they get the examples that a law has alone.

    The number is the profile's, so that `--all` looks further.
    """
    return settings(max_examples=max(LEAST, settings().max_examples // count))


def spread(cases: Sequence[T], most: int, random: Random) -> list[T]:
    """The cases, or `most` of them: one of each part of the sequence, whose parts are as long as each other."""
    if len(cases) <= most:
        return list(cases)
    ends = [round(part * len(cases) / most) for part in range(most + 1)]
    return [cases[random.randrange(begin, end)] for begin, end in pairwise(ends)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, metavar="N", help="at most so many cases of each test, others each time")


def _place(item: pytest.Item) -> tuple[int, ...]:
    """Where a case stands among those of its test; the order in which they come here is already shuffled."""
    callspec = getattr(item, "callspec", None)
    return tuple(callspec.indices.values()) if callspec else ()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not (most := config.getoption("cases")):
        return
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    random = Random(config.getoption("randomly_seed", 0))  # the same one in every worker
    chosen = {item for _, cases in sorted(tests.items()) for item in spread(sorted(cases, key=_place), most, random)}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]
