"""Whatever is cached is weighed before it is computed: by an argument that says that it takes long, or by a rule.

Otherwise what its link makes large is computed in the quick lane, beside others, and its memory is not given back.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

import tfm_ui
from tfm_core import TransformerConfig
from tfm_ui.live import cache
from tfm_ui.state.model_state import ModelState


def every_cached() -> dict[str, Callable[..., Any]]:
    """The name of each cached function -> the function."""
    for module in pkgutil.walk_packages(tfm_ui.__path__, "tfm_ui."):
        importlib.import_module(module.name)
    return dict(cache.WEIGHED_BY_ARGUMENTS)


def says_what_it_costs(kind: Any) -> bool:
    """Whether a value of this kind of argument is weighed, see `cached`."""
    return kind is TransformerConfig or hasattr(kind, "is_heavy") or any(map(says_what_it_costs, get_args(kind)))


CACHED = every_cached()


def test_functions_are_found():
    assert len(CACHED) > 30


@pytest.mark.parametrize("name", CACHED)
def test_an_argument_says_what_it_costs_or_the_function_says_that_it_is_never_much(name):
    kinds = {argument: kind for argument, kind in get_type_hints(CACHED[name]).items() if argument != "return"}
    weighed = [argument for argument, kind in kinds.items() if says_what_it_costs(kind)]
    assert weighed, (
        f"{name}: none of {list(kinds)} says what it costs; say it: @cached(heavy=...), or @cached(heavy=never)"
    )


def test_a_large_configuration_is_weighed_and_so_is_one_in_a_tuple():
    large = ModelState(d_model=256, num_layers=8, d_ff=1024)
    deep = large.config
    assert cache._is_heavy(deep)
    assert cache._is_heavy(("other", (deep,)))
    assert cache._is_heavy(size=deep)
    assert not cache._is_heavy(ModelState().config)
    assert not cache._is_heavy("text", 3, (1, 2))
