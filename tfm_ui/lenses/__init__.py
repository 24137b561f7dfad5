"""The lenses, a folder each. None imports another, but Home may show Heads."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from tfm_ui.page.lens import Lens
from tfm_ui.pictures.registry import register

# In teaching order. A new lens is a folder beside the others, whose package holds `LENS`, and its name here.
NAMES = ["home", "heads", "attention", "positions", "masks", "profiling"]


@cache
def lens(name: str) -> Lens:
    """The lens of this name, its pictures registered."""
    loaded: Lens = import_module(f"{__name__}.{name}").LENS
    register(loaded.pictures, loaded.state, loaded.prefix)
    return loaded


def lenses() -> Sequence[Lens]:
    """All lenses, in teaching order."""
    return [lens(name) for name in NAMES]
