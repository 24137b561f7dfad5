"""What the views "compare" and "lengths" share: panels about a comparison, and the row of controls above them."""

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

from tfm_core import alibi_slopes
from tfm_core.training.compare import compare
from tfm_core.training.comparison import Comparison
from tfm_ui.lenses.training import compare_bar
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.panels import TrainingPanel
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.live.script import script
from tfm_ui.page import controls_line
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NOT_YET = "Nothing of this is computed yet. Compare trains every network with three seeds."
NOTHING = "Nothing of this is computed yet: press Compare, and ask again."
GENTLE = 0.5  # a bias below it changes a weight by less than half


def compared(*, task: str) -> Comparison:
    """All networks of a task with all seeds, trained anew: this takes minutes."""
    for step in compare(task):
        comparison = step.comparison
    return comparison


class ComparisonPanel(TrainingPanel):
    """A panel about what came out of a comparison."""

    canvas = CHART

    rates: ClassVar[str] = ""
    """At which rates networks learn, in a sentence, if that is told."""

    @cached_property
    def comparison(self) -> Comparison:
        """What came out; to be asked for only where the panel is shown."""
        comparison = comparison_of(self.state.task)
        assert comparison, f"expected a comparison of networks that learn {self.state.task}, got none"
        return comparison

    @property
    def is_shown(self) -> bool:
        return comparison_of(self.state.task) is not None

    @property
    def shape(self) -> str:
        return f"{len(self.comparison.seeds)} seeds"

    @classmethod
    def conditions(cls, model: ModelState, state: TrainingState) -> Note:
        """What all networks share, and what the transformers are where their names say nothing else."""
        comparison = cls(model, state).comparison
        base = comparison.base
        slope = alibi_slopes(base.num_heads).max().item()
        bias = slope * (base.about.length - 1)
        heads = formats.plural(base.num_heads, "head")
        gentle = (
            f" With {heads} alibi’s steepest slope is {formats.number(slope)} a token, so scores fall by at most "
            f"{formats.number(bias)} over {base.about.length} tokens: hardly a trace of order."
        )
        return Note(
            f"{formats.count(base.steps)} steps of {base.batch_size} examples, the same for all; "
            f"{formats.plural(len(comparison.seeds), 'seed')}. Where a name says nothing else, transformers have "
            f"{base.positional} positions, {base.norm}-norm, {formats.plural(base.num_layers, 'layer')} and "
            f"{heads}.{gentle * (bias < GENTLE)}{cls.rates} Computed with {comparison.made_with}.",
            "plain",
        )

    def recipe(self) -> str:
        return script(compared, task=self.comparison.task)

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of a comparison that is not there, an empty chart."""
        if cls(model, state).is_shown:
            return super().content(model, state)
        return lines.content([], about="Nothing of it is computed yet.")


def nothing_yet(model: ModelState, state: TrainingState) -> list[Block]:
    """A note in place of the panels where nothing is computed: what the button would do, or why it does not."""
    if comparison_of(state.task):
        return []
    return [Note(compare_bar.why_not(state.task) or NOT_YET, icon=":material/leaderboard:")]


def controls_and_button(line: str, *fields: str) -> Callable[[ModelState], TrainingState]:
    """What draws the row above the picture: the controls of these fields, and the button that compares."""

    def draw(model: ModelState) -> TrainingState:
        row = controls_line.row(line)
        state = controls_line.draw(TrainingState, PREFIX, model, row, *fields)
        with row:
            compare_bar.draw(state.task)
        return state

    return draw
