"""The view "distance": gradients by distance in five networks of as many parameters, and their paths."""

from tfm_ui.lenses.model.distance.paths import DistancePaths
from tfm_ui.lenses.model.distance.questions import QUESTIONS
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note
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


def _narrower(model: ModelState, state: ModelLensState) -> list[Block]:
    """A note that the networks are narrower than the sidebar's model, where they are."""
    config = Distance(model, state).config
    if config.d_model == model.d_model:
        return []
    sizes = f"d_model {formats.count(config.d_model)} and d_ff {formats.count(config.feed_forward_dim)}"
    return [
        Note(
            f"Five networks as wide as this model’s d_model of {formats.count(model.d_model)} would take minutes. Here "
            f"the transformer has {sizes}, in as many layers and heads, and the others about as many parameters."
        )
    ]


VIEW = View(
    title="Distance",
    reads_instead=lambda model, state: "No text is read here: all networks read the same vectors, drawn at random.",
    exercise="recurrent",
    shows=[Distance, _narrower, DistancePaths],
    controls=("reach_length", "reach_kernel", "reach_start"),
    more=("reach_seeds", "attention"),
    line="line_model_distance",
    running=_running,
    questions=QUESTIONS,
)
