"""What lessons measure on the pages of the Generate lens."""

from collections.abc import Callable, Mapping

from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.state.model_state import ModelState


def passes(model: ModelState, state: GenerateState) -> int:
    """How many passes of the model, one after the other, have written the text; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else len(kept.lengths)


def read_with_cache(model: ModelState, state: GenerateState) -> int:
    """How many tokens all passes together read with the cache; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else sum(kept.parts.values())


def read_without_cache(model: ModelState, state: GenerateState) -> int:
    """How many tokens all passes together would read without the cache; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else sum(kept.lengths)


MEASURES: Mapping[str, Callable[[ModelState, GenerateState], float | str]] = {
    measure.__name__: measure for measure in (passes, read_with_cache, read_without_cache)
}
