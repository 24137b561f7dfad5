"""The view "sizes": the loss of Lab GPT's recipe by the number of parameters and by the amount of prose."""

from tfm_core.training.prose.size_table import find
from tfm_ui.lenses.training.sizes.curves import SizesCurves
from tfm_ui.lenses.training.sizes.losses import SizesLosses
from tfm_ui.lenses.training.sizes.panels import COMMAND
from tfm_ui.lenses.training.sizes.questions import QUESTIONS
from tfm_ui.lenses.training.state import OVER, PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def _shown(model: ModelState, state: TrainingState) -> list[Block]:
    """The picture that was chosen, and how the runs were made."""
    if not find():
        return []
    picture = SizesCurves if state.over == OVER[2] else SizesLosses
    return [picture(model, state), SizesLosses.conditions(model, state)]


def _instead(model: ModelState, state: TrainingState) -> list[Block]:
    """Why nothing is shown: the table was removed."""
    return [] if find() else [Note(f"Nothing of this is computed yet. This computes it, in hours: {COMMAND}")]


def _reads_instead(model: ModelState, state: TrainingState) -> str:
    """What the models of this view have read."""
    return "Prose of Lab GPT’s corpus is read here, and not the text in the sidebar."


def _badge(model: ModelState, state: TrainingState) -> str:
    """How many models were trained. The sidebar's model is not on this page."""
    return f"◐ {formats.plural(len(find()), 'run')} of Lab GPT’s recipe" if find() else "○ Nothing is computed yet"


def _controls(model: ModelState) -> TrainingState:
    """The axis over which the loss is drawn, and the amount of prose of the curves."""
    line = controls_line.row("line_training_sizes")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "over")
    part = controls_line.place(line, "part", idle=state.over != OVER[2])
    return controls_line.draw(TrainingState, PREFIX, model, part, "part")


VIEW = View(
    title="Data and size",
    tab="compare",
    choice="Data and size",
    shows=[_shown],
    also=[SizesLosses, SizesCurves],
    instead=_instead,
    reads_instead=_reads_instead,
    controls=_controls,
    uses_model=False,
    badge=_badge,
    questions=QUESTIONS,
)
