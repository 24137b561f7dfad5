"""The lenses, each in its own folder. No lens imports another, except that Home may use Heads."""

from collections.abc import Sequence
from functools import cache, partial
from importlib import import_module

from tfm_ui.page import paper_pictures, preview, words
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.registry import PREVIEWS, WORDS, Preview, Words, register

# The lenses in teaching order. For a new lens, add a folder whose package defines `LENS`, and its name here.
NAMES = ["home", "heads", "attention", "positions", "masks", "model", "generate", "training", "clinic", "profiling"]


@cache
def lens(name: str) -> Lens:
    """The lens with this name, after registering its pictures, its words and its preview.

    Raises:
        ValueError: if it has another name than its folder.
    """
    loaded: Lens = import_module(f"{__name__}.{name}").LENS
    if loaded.name != name:
        raise ValueError(f"expected a lens with the name of its folder, {name!r}, got {loaded.name!r}")
    register(loaded.pictures, loaded.state, loaded.prefix)
    for key, said in zip(words.names(loaded), (words.of_page, words.of_answer, words.of_slow_panels), strict=True):
        WORDS[key] = Words(loaded.state, loaded.prefix, partial(said, loaded), loaded.needs)
    PREVIEWS[preview.name(loaded)] = Preview(
        loaded.state, loaded.prefix, partial(preview.picture, loaded), partial(preview.needs, loaded)
    )
    for kind in paper_pictures.KINDS:
        PREVIEWS[paper_pictures.name(loaded, kind)] = Preview(
            loaded.state, loaded.prefix, partial(paper_pictures.picture, loaded, kind), partial(preview.needs, loaded)
        )
    return loaded


def lenses() -> Sequence[Lens]:
    """All lenses, in teaching order."""
    return [lens(name) for name in NAMES]
