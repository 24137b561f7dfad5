"""What max_len is, and what lies past it: which positions, and the part of an axis that shows them."""

from dataclasses import replace

from tfm_core.training.comparison import Comparison
from tfm_core.training.outcomes import OUTCOMES
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

UNDEFINED = "not defined"


def trained_length(model: ModelState) -> int:
    """How many tokens each text of the training had; 0 if the weights are random."""
    return model.trained.about.length if model.trained else 0 if model.is_random else model.most_tokens


def as_trained(model: ModelState, state: PositionsState) -> PositionsState:
    """The state, with the length that the weights were really trained on as max_len; as it is, if they are random."""
    return replace(state, max_len=length) if (length := trained_length(model)) else state


def stands_for(model: ModelState) -> str:
    """What max_len is, after its name."""
    if not (length := trained_length(model)):
        return "max_len, which stands for the longest text of a training"
    return f"max_len = {length}, the length of every text that these weights were trained on"


def measured(model: ModelState, state: PositionsState) -> str:
    """What a task's comparison has measured of A and B at its greatest length; "" where nothing is known."""
    comparison = OUTCOMES.find(model.trained.task) if model.trained else None
    if comparison is None or len(comparison.lengths) == 1:
        return ""
    told = [text for name in state.sides if (text := _measured(comparison, name))]
    return (
        f"Measured, with transformers that learned “{comparison.base.about.title}”: {'; '.join(told)}." if told else ""
    )


def _measured(comparison: Comparison, name: str) -> str:
    entry = comparison.by_scheme.get(name)
    if entry is None:
        return ""
    first, last = comparison.lengths[0], comparison.lengths[-1]
    begin, end = entry.at_length(0), entry.at_length(-1)
    beyond = f"{UNDEFINED} at {last}" if end is None else f"{formats.percent(end)} at {last}"
    return f"{name} has {formats.percent(begin or 0)} of the answers right at {first} tokens, {beyond}"


def where(state: PositionsState) -> list[str]:
    """Whether each position, or distance, lies within max_len."""
    return ["within" if i < state.max_len else "beyond" for i in range(state.length)]


def last_within(state: PositionsState) -> int:
    """The last position within max_len, of those on screen."""
    return min(state.max_len, state.length) - 1


def beyond_range(state: PositionsState, undefined: str = "") -> dict[str, tuple[float, float]]:
    """The part of an axis of positions, or of distances, past max_len, by its name.

    Args:
        state: of the lens.
        undefined: what has no values there.
    """
    name = f"beyond max_len: {undefined} {UNDEFINED}" if undefined else "beyond max_len"
    return {name: (state.max_len - 0.5, state.length - 1)} if state.length > state.max_len else {}
