"""The row of controls above the pictures: the task, the button that trains, and everything else in "More"."""

from dataclasses import replace

from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.training import train_bar
from tfm_ui.lenses.training.runs import config_of, why_not
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.state.model_state import ModelState

NETWORK = ("layers", "heads", "width", "positional", "norm")
HOW = ("rate", "warmup", "batch", "dropout", "decay", "steps")


def of_run(model: ModelState) -> TrainingState:
    """A task, its seed, and the button."""
    line = controls_line.row("line_training")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "task", "seed", "probe")
    state = settings(model, line, *(["pooling"] if state.has_classes else []))
    reason = why_not(state)
    try:
        config = config_of(state)
    except ValueError:
        config = None
    with line:
        train_bar.draw(config, reason)
    return state


def settings(model: ModelState, line: DeltaGenerator, *more: str) -> TrainingState:
    """The menu of what is trained, and how, and `more` fields; the lens's state."""
    inside = controls_line.more(line, "Settings")
    left, right = inside.columns(2, gap="small")
    controls_line.draw(TrainingState, PREFIX, model, left, *NETWORK, *more)
    return controls_line.draw(TrainingState, PREFIX, model, right, *HOW)


def of_pair_state(state: TrainingState) -> TrainingState:
    """The state with the task of the view "decode" in the place of the task."""
    return replace(state, task=state.pair)
