"""What lessons measure on the pages of the Model lens."""

from collections.abc import Callable, Mapping

from tfm_ui.lenses.model.diagram.block import OUT, Flow
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, ModelLensState
from tfm_ui.state.model_state import ModelState


def repeats_apart(model: ModelState, state: ModelLensState) -> float:
    """The largest difference between what flows out of the chosen block at two places with the same token.

    0 if no token stands in the text twice, and of a block that belongs to a layer.
    """
    flow = Flow(model, state)
    if flow.picked.name_in_link != OUTSIDE_LAYERS.get(state.sub_layer) or OUT not in flow.ends:
        return 0.0
    vectors, first = flow.ends[OUT], dict[int, int]()
    pairs = [(first.setdefault(token, place), place) for place, token in enumerate(flow.tokens.ids[: len(vectors)])]
    return max(float((vectors[before] - vectors[place]).abs().max()) for before, place in pairs)


def words(model: ModelState, state: ModelLensState) -> int:
    """How many words the text has: what stands between spaces."""
    return len(model.read_text.split())


MEASURES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure for measure in (repeats_apart, words)
}
