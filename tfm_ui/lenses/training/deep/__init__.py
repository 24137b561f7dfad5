"""The view "deep": four wirings trained at four depths, with and without a warm-up, beside what is claimed of them."""

from tfm_core.training.compare.depth_table import depth_store
from tfm_ui.lenses.training.deep.claims import DeepClaims
from tfm_ui.lenses.training.deep.curves import DeepCurves
from tfm_ui.lenses.training.deep.gradients import DeepGradients
from tfm_ui.lenses.training.deep.panels import DeepPanel
from tfm_ui.lenses.training.deep.questions import QUESTIONS
from tfm_ui.lenses.training.deep.reached import DeepReached
from tfm_ui.lenses.training.panels import task_alone
from tfm_ui.lenses.training.state import DEEP, PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

PICTURES: dict[str, type[DeepPanel]] = dict(zip(DEEP, (DeepReached, DeepCurves, DeepGradients), strict=True))
MORE = {DEEP[0]: ("good",), DEEP[1]: ("deep",), DEEP[2]: ("deep", "at")}


def _shown(model: ModelState, state: TrainingState) -> list[Block]:
    """The picture that was chosen, what all runs share, and what is claimed."""
    picture = PICTURES[state.drawn](model, state)
    return [picture, DeepReached.conditions(model, state), DeepClaims(model, state)]


def _badge(model: ModelState, state: TrainingState) -> str:
    """How many networks were trained. The sidebar's model is not on this page."""
    table = depth_store().find()
    if table is None:
        return "○ Nothing is computed yet"
    return f"◐ {formats.plural(len(table.runs), 'run')} on {table.recipe.task}"


def _controls(model: ModelState) -> TrainingState:
    """Which picture, of which networks."""
    line = controls_line.row("line_training_deep")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "drawn")
    # Each means something for some pictures alone; where there are two of them, the row has no room for another.
    controls_line.draw(TrainingState, PREFIX, model, line, *MORE[state.drawn])
    place = controls_line.more(line, "More") if len(MORE[state.drawn]) > 1 else line
    return controls_line.draw(TrainingState, PREFIX, model, place, "warm")


VIEW = View(
    title="Depth",
    tab="compare",
    choice="Depth",
    shows=[_shown],
    also=[DeepReached, DeepCurves, DeepGradients, DeepClaims],
    reads_instead=task_alone,
    controls=_controls,
    uses_model=False,
    badge=_badge,
    questions=QUESTIONS,
)
