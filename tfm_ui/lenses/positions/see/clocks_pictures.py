"""The turning vectors of the Positions lens, as a function of the link."""

from tfm_ui.lenses.positions.schemes import chosen
from tfm_ui.lenses.positions.see import clocks_canvas as drawing
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.pictures.canvas import Content
from tfm_ui.state.model_state import ModelState


def turning_a(model: ModelState, state: PositionsState) -> Content:
    """A query and a key in each pair of dimensions, as A turns them."""
    return _turning(model, state, "A")


def turning_b(model: ModelState, state: PositionsState) -> Content:
    """The same of B."""
    return _turning(model, state, "B")


def _turning(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "rotate")
    seen = clocks(state, scheme) if scheme else None
    return drawing.content(seen, query=f"{PREFIX}position", key=f"{PREFIX}key")
