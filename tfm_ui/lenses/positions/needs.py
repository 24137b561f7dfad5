"""What tables of positions take, of any number of positions and any width, whatever model the sidebar has."""

from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes
from tfm_ui.live.memory import LITTLE
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER

TABLES = 12  # of A and B: in float32 and in float64, and what is computed from them


def tables(model: ModelState, state: PositionsState) -> int:
    """The bytes that tables (position, dimension) of both sides take, and what is said of a pass beside them."""
    return passes.needs(model) + 2 * LITTLE + NUMBER * TABLES * state.length * state.width
