"""The view "compare": networks of one size on one task, with three seeds each."""

from tfm_core import TASKS
from tfm_core.training.compare import compare
from tfm_core.training.contestants import RATES, TOLERANCE, contestants, matched
from tfm_ui.lenses.training import compare_bar
from tfm_ui.lenses.training.badge import task_alone
from tfm_ui.lenses.training.compare.layers import SOURCES, Layers
from tfm_ui.lenses.training.compare.measures import MEASURES
from tfm_ui.lenses.training.compare.numbers import Ranked
from tfm_ui.lenses.training.compare.pictures import PICTURES
from tfm_ui.lenses.training.outcomes import badge, common, comparison_of
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NOT_YET = "Nothing of this is computed yet. Compare trains every network with three seeds."


def nothing_yet(task: str) -> Note:
    """A note in place of the panels: what the button would do, or why it does not."""
    return Note(compare_bar.why_not(task) or NOT_YET, icon=":material/leaderboard:")


def blocks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """All networks as the main picture; below it, one layer beside two."""
    comparison = comparison_of(state.task)
    if comparison is None:
        return [nothing_yet(state.task)]
    layers = Layers(comparison)
    return [
        Box(
            key="training_compare",
            title=f"{TASKS[state.task].title}: who learns it best?",
            how_to_read="A dot is a seed, the bar the median, the best on top; in brackets, how many parameters there "
            f"are: they differ by at most {formats.percent(TOLERANCE)}.",
            shape=f"{len(comparison.seeds)} seeds",
            picture="training_compare",
            result=Ranked(comparison, MEASURES[state.measure]),
            sources=[contestants, matched, compare],
        ),
        Note(f"{common(comparison)} {_rates()} Computed with {comparison.made_with}.", "plain"),
        Box(
            key="training_layers",
            title="One layer and two",
            how_to_read="How much is right, and how much of its weight the best head puts where it should look. A dot "
            "is a seed, the bar the median.",
            picture="training_layers",
            result=layers,
            sources=SOURCES,
        )
        if layers.entries
        else None,
    ]


def _rates() -> str:
    rates = " and ".join(f"{rate:g}" for rate in (RATES[0], RATES[-1]))
    return (
        "Transformers learn at the task’s own rate. For recurrent networks "
        f"{len(RATES)} rates from {rates.replace(' and ', ' to ')} were tried, and the best one counts."
    )


def _controls(model: ModelState) -> TrainingState:
    line = controls_line.row("line_training_compare")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "task", "measure")
    with line:
        compare_bar.draw(state.task)
    return state


VIEW = View(
    title="Compare",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=task_alone,
    controls=_controls,
    uses_model=False,
    badge=badge,
)
