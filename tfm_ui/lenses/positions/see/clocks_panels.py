"""Pairs of dimensions as turning vectors, moved along the positions."""

from tfm_core import apply_rotary
from tfm_core.positional.maths import frequencies
from tfm_ui.lenses.positions.boxes import states
from tfm_ui.lenses.positions.schemes import Scheme
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page import frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look


def draw(model: ModelState, state: PositionsState, scheme: Scheme) -> None:
    """The panel of a scheme that turns queries and keys."""
    seen, side = clocks(state, scheme), scheme.side.lower()
    few = len(seen.shown) < seen.pairs
    chosen = f" {len(seen.shown)} of the {seen.pairs} pairs, evenly chosen." if few else ""
    with panel(f"clocks_{side}") as show:
        show(
            title=f"{scheme.title}, a turn per pair",
            how_to_read="A circle per pair of dimensions (i, i + d/2): a query and a key that both pointed right, "
            f"turned by their positions. λ: positions for a full turn.{chosen}",
            shape=look.plural(seen.pairs, "pair"),
            picture=Drawing(f"positions_clocks_{side}", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[apply_rotary, frequencies],
            recipe=seen.recipe,
            mode=frame.mode(),
        )
