"""The row of controls above the pictures of a run: fields, the menu of settings, and the button that trains."""

from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.training import train_bar
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import config_of, why_not
from tfm_ui.lenses.training.state import HOW, NETWORK, PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.state.model_state import ModelState


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
