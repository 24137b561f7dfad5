"""The view "distance": gradients by distance in five networks of as many parameters, and their paths."""

from tfm_ui.lenses.model.distance.paths import DistancePaths
from tfm_ui.lenses.model.distance.questions import QUESTIONS
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import View
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LONG = 600  # tokens, those of all draws together: about a second in small networks


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while the networks run."""
    distance = Distance(model, state)
    if distance.exact and distance.exact.is_shown(state.whole):
        return ""
    draws = distance.quick_draws
    slow = distance.takes_long or draws * state.reach_length > LONG
    return f"Running five networks forward and back, {formats.plural(draws, 'draw')} of weights" if slow else ""


VIEW = View(
    title="Distance",
    reads_instead=lambda model, state: "No text is read here: all networks read the same vectors, drawn at random.",
    shows=[Distance, DistancePaths],
    controls=("reach_length", "reach_kernel", "reach_start"),
    more=("reach_seeds", "attention"),
    line="line_model_distance",
    running=_running,
    questions=QUESTIONS,
)
