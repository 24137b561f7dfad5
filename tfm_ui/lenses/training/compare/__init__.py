"""The view "compare": networks of one size on one task, with three seeds each, tested as trained or on more tokens."""

from tfm_core import TASKS
from tfm_ui.lenses.training import compare_bar, row_controls
from tfm_ui.lenses.training.compare.layers import Layers
from tfm_ui.lenses.training.compare.lengths import Lengths
from tfm_ui.lenses.training.compare.questions import QUESTIONS
from tfm_ui.lenses.training.compare.ranked import Compare
from tfm_ui.lenses.training.outcomes import badge
from tfm_ui.lenses.training.panels import task_alone
from tfm_ui.lenses.training.state import LONGER, PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState


def _networks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """The networks by what they reach at the trained length, with one layer beside two, or at longer ones."""
    if state.tested == LONGER:
        return [Lengths(model, state), Lengths.conditions(model, state)]
    layers = Layers(model, state)
    return [Compare(model, state), Compare.conditions(model, state), layers if layers.is_shown else None]


def _instead(model: ModelState, state: TrainingState) -> list[Block]:
    """Why nothing is shown: there is no other length, or nothing is computed yet."""
    task = TASKS[state.task]
    if state.tested == LONGER and not task.stretches:
        return [Note(f"{task.title}: all examples have {task.length} tokens, so there is no other length to try.")]
    return row_controls.nothing_yet(model, state)


def _controls(model: ModelState) -> TrainingState:
    """What is learned, what the networks are tested on and by what they are compared, and the button that compares."""
    line = controls_line.row("line_training_compare")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "task", "tested")
    place = controls_line.place(
        line, "measure", idle=state.tested == LONGER
    )  # these are compared by right answers alone
    state = controls_line.draw(TrainingState, PREFIX, model, place, "measure")
    with line:
        compare_bar.draw(state.task)
    return state


VIEW = View(
    title="Compare",
    shows=[_networks],
    also=[Compare, Lengths, Layers],
    instead=_instead,
    reads_instead=task_alone,
    controls=_controls,
    uses_model=False,
    badge=badge,
    questions=QUESTIONS,
)
