"""What the panels of the view "deep" share: the table of all runs, its colours, and how it was made."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from tfm_core.training.compare.depth import LEARNED, SURE, DepthRecipe
from tfm_core.training.compare.depth_table import NAME, DepthTable, Group, depth_store
from tfm_ui.lenses.training.panels import TrainingPanel
from tfm_ui.lenses.training.state import WITH, WITHOUT, TrainingState
from tfm_ui.live.memory import little
from tfm_ui.live.script import script
from tfm_ui.pictures.canvas import Canvas
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

COLOURS = {"pre-norm": "head 1", "post-norm": "head 2", "no residuals": "head 3", "no norm": "head 4"}
COMMAND = f"python -m tfm_core.training {NAME}"


def kept_shares(*, warmups: Sequence[int]) -> dict[str, float]:
    """The share of right answers of each wiring and depth, the median over the seeds, from the kept table."""
    table = depth_store().find() or DepthTable(DepthRecipe())
    shares = {
        f"{wiring}, {layers} layers, warm-up {warmup}": group.accuracy
        for (wiring, layers, warmup), group in table.groups.items()
        if warmup in warmups
    }
    return shares


class DeepPanel(TrainingPanel):
    """A panel about networks of several depths, all trained before the page was opened."""

    canvas: ClassVar[Canvas | None] = CHART
    shows_jobs = False
    needs = little

    @cached_property
    def kept(self) -> DepthTable:
        """All runs; it comes with the app, so there always is one."""
        return depth_store().find() or DepthTable(DepthRecipe())

    @property
    def is_shown(self) -> bool:
        return bool(self.kept.runs)

    @property
    def warmups(self) -> list[int]:
        """The steps of warm-up that are on screen, 0 for none."""
        wanted = {WITHOUT: [0], WITH: [each for each in self.kept.warmups if each]}
        return wanted.get(self.state.warm, self.kept.warmups)

    @property
    def depth(self) -> int:
        """How many layers the networks on screen have: those that the control names, if any were trained."""
        return self.state.deep if self.state.deep in self.kept.layers else max(self.kept.layers, default=0)

    def group(self, wiring: str, layers: int, warmup: int) -> Group:
        """The runs that differ in their seeds alone; none if none has ended."""
        return self.kept.groups.get((wiring, layers, warmup), Group((), self.kept.guessing))

    @property
    def shape(self) -> str:
        return f"{formats.plural(len(self.kept.runs), 'run')}, {formats.plural(len(self.kept.seeds), 'seed')}"

    def recipe(self) -> str:
        """A script that leaves `shares`, of the runs that are kept; the command below the picture trains them anew."""
        return script(kept_shares, warmups=self.warmups)

    @classmethod
    def conditions(cls, model: ModelState, state: TrainingState) -> Note:
        """What all runs share, when a run counts as failed, and how the table was made."""
        table = cls(model, state).kept
        recipe = table.recipe
        task = recipe.training(0).about
        return Note(
            f"Task: {task.title.lower()}; encoders of d_model {recipe.d_model} with {recipe.num_heads} heads; "
            f"{recipe.steps} steps of {recipe.batch_size} examples; AdamW, learning rate {recipe.learning_rate:g} that "
            "does not fall, gradients not cut. Networks of one seed begin with the same weights and see the same "
            "examples. A run has failed if its loss on held-out examples, after all steps, is not lower than that of "
            f"guessing, {table.guessing:.3f} nats, by {SURE:g} standard errors, or if a loss was no finite number; it "
            f"has learned the task if {formats.percent(LEARNED)} of the answers are right. Training fails at a depth "
            f"if most seeds fail. Computed in {table.seconds / 60:.0f} minutes on one core with {table.made_with}: "
            f"{COMMAND}",
            "plain",
        )


def spelled(warmup: int) -> str:
    """The warm-up in words: without warm-up; 100 steps of warm-up."""
    return f"{warmup} steps of warm-up" if warmup else "without warm-up"


def reach(table: DepthTable, wiring: str, warmup: int) -> str:
    """Up to how many layers every seed learns the task, and from how many on most fail."""
    learned, failed = table.learns_up_to(wiring, warmup), table.fails_at(wiring, warmup)
    up_to = f"learns up to {formats.plural(learned, 'layer')}" if learned else "learns at no depth with every seed"
    return f"{up_to} and fails at {failed}" if failed else up_to


def capital(text: str) -> str:
    """The text with a capital."""
    return text[:1].upper() + text[1:]
