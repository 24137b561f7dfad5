"""Baselines of a task are the same for all laws, which empty the cache again and again; finding them takes a second."""

from collections.abc import Iterator
from functools import cache

import pytest

from tfm_core.training.baselines import baselines
from tfm_ui.lenses.training.classify import curves

ONCE = cache(baselines)


@pytest.fixture(autouse=True, scope="module")
def baselines_are_found_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "baselines", ONCE)
        yield
