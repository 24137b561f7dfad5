"""What lies past max_len: which positions, and the part of an axis that shows them."""

from tfm_ui.lenses.positions.state import PositionsState

UNDEFINED = "not defined"


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
