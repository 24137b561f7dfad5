"""The turning vectors of the Positions lens, as a function of the link."""

from tfm_ui.components import clocks as drawing
from tfm_ui.components.canvas import Content
from tfm_ui.model_state import ModelState
from tfm_ui.positions_lens.clocks import clocks
from tfm_ui.positions_lens.state import PREFIX, PositionsState


def turning(model: ModelState, state: PositionsState) -> Content:
    """A query and a key in each pair of dimensions."""
    return drawing.content(clocks(model, state), query=f"{PREFIX}position", key=f"{PREFIX}key")
