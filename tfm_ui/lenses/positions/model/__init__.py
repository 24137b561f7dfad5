"""The view "model", what the schemes do in the sidebar's model: maps, scores by distance, shuffled words."""

from tfm_ui.lenses.positions.model.entry import Entry
from tfm_ui.lenses.positions.model.maps import Distance, Maps
from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.model_runs import left_out, other_positions
from tfm_ui.lenses.positions.panel import note
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text


def _running(model: ModelState, state: PositionsState) -> str:
    """What is said while a model runs that takes seconds."""
    return "Running the model under each of these schemes, twice" if left_out(model, state) else ""


VIEW = View(
    reads=lambda model, state: [Text(model.source_tokens)],
    never_trained=other_positions,
    title="In the model",
    shows=[Maps, note(left_out), Entry, Columns([[Distance], [Shuffled]], widths=[9, 11])],
    controls=("a", "b", "layer", "model_head"),
    line="line_positions",
    running=_running,
)
