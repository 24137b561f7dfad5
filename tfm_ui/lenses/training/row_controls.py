"""The row of controls above the picture of a run, with the button that trains; and a note where nothing is computed."""

from collections.abc import Callable

from tfm_ui.lenses.training import compare_bar, train_bar
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import config_of, why_not
from tfm_ui.lenses.training.state import HOW, NETWORK, PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator

NOT_YET = "Nothing of this is computed yet. Compare trains every network with three seeds."


def of_run(panel: type[RunPanel], line_name: str, *fields: str) -> Callable[[ModelState], TrainingState]:
    """What draws the row of a view: these fields, the menu, and the button."""

    def draw(model: ModelState) -> TrainingState:
        line = controls_line.row(line_name)
        asked = panel.asked(controls_line.draw(TrainingState, PREFIX, model, line, *fields))
        state = settings(model, line, *(["pooling"] if asked.has_classes else []))
        button(panel.asked(state), line)
        return state

    return draw


def settings(model: ModelState, line: DeltaGenerator, *more: str) -> TrainingState:
    """The menu of what is trained, and how, and `more` fields; the lens's state."""
    inside = controls_line.more(line, "Settings")
    left, right = inside.columns(2, gap="small")
    controls_line.draw(TrainingState, PREFIX, model, left, *NETWORK, *more)
    return controls_line.draw(TrainingState, PREFIX, model, right, *HOW)


def button(asked: TrainingState, line: DeltaGenerator) -> None:
    """Draw the button that trains what the controls ask for."""
    try:
        config = config_of(asked)
    except ValueError:
        config = None
    with line:
        train_bar.draw(config, why_not(asked))


def nothing_yet(model: ModelState, state: TrainingState) -> list[Block]:
    """A note in place of the panels where nothing is computed: what the button would do, or why it does not."""
    if comparison_of(state.task):
        return []
    return [Note(compare_bar.why_not(state.task) or NOT_YET, icon=":material/leaderboard:")]
