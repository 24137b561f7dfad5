"""The view "lengths": trained at one length, tested at longer ones."""

from tfm_core import TASKS
from tfm_core.training.lengths import by_length, is_defined, lengths_of
from tfm_ui.lenses.training import compare_bar
from tfm_ui.lenses.training.badge import task_alone
from tfm_ui.lenses.training.compare.panels import nothing_yet
from tfm_ui.lenses.training.lengths.numbers import ByLength
from tfm_ui.lenses.training.lengths.pictures import PICTURES
from tfm_ui.lenses.training.outcomes import badge, common, comparison_of
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: TrainingState) -> list[Block | None]:
    """A line for each positional scheme."""
    task, comparison = TASKS[state.task], comparison_of(state.task)
    if not task.stretches:
        return [Note(f"{task.title}: all examples have {task.length} tokens, so there is no other length to try.")]
    if comparison is None:
        return [nothing_yet(state.task)]
    result = ByLength(comparison)
    return [
        Box(
            key="training_lengths",
            title=f"{task.title}: longer than trained",
            how_to_read="x: how long the sequence is. y: how many of the answers are right, the median over the seeds. "
            "Colours: positional schemes. Dashed: the best recurrent network. Thin: always the most frequent answer.",
            shape=f"{len(comparison.seeds)} seeds",
            picture="training_lengths",
            result=result,
            sources=[lengths_of, by_length, is_defined],
        ),
        Note(f"{common(comparison)} Computed with {comparison.made_with}.", "plain"),
    ]


def _controls(model: ModelState) -> TrainingState:
    line = controls_line.row("line_training_lengths")
    state = controls_line.draw(TrainingState, PREFIX, model, line, "task")
    with line:
        compare_bar.draw(state.task)
    return state


VIEW = View(
    title="Longer than trained",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=task_alone,
    controls=_controls,
    uses_model=False,
    badge=badge,
)
