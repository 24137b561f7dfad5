"""What takes laws long and shows no fault that less of it would not show."""

from collections.abc import Iterator
from functools import cache

import pytest

from tfm_core.training.baselines import baselines
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.model.distance import reach
from tfm_ui.lenses.training.classify import curves

ONCE = cache(baselines)


@pytest.fixture(autouse=True, scope="module")
def what_takes_long_is_little() -> Iterator[None]:
    """Baselines of a task are found once, though laws empty the cache again and again; large views show a part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "baselines", ONCE)
        patch.setattr(leaks_plan, "SECONDS", 0.2)
        patch.setattr(reach, "SECONDS", 0.4)
        yield
