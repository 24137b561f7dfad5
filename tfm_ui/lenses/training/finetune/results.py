"""What is known of fine-tuning for a link: the grid that comes with the app, and the run that is chosen."""

from functools import cached_property
from statistics import median

from tfm_core.training.compare.finetuning.grid_file import shipped_grid
from tfm_core.training.compare.finetuning.kept import find_run
from tfm_core.training.compare.finetuning.labelled import BODIES, SETS, LabelledSet
from tfm_core.training.compare.finetuning.outcome import Grid, Tuned, Tuning
from tfm_core.training.compare.finetuning.tuning import TuningStep
from tfm_core.training.compare.finetuning.ways import WAYS, Way
from tfm_core.training.verdict import ahead, chance_between
from tfm_ui.jobs import sessions
from tfm_ui.lenses.training.panels import TrainingPanel
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.maps import MAPS
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

JOB = "finetune"
EMPTY = "Nothing of it is computed yet."
NOTHING = "No grid of this task comes with this installation: python -m tfm_core.training finetune computes it."


def tuning_of(state: TrainingState) -> Tuning:
    """The run that a link names."""
    return Tuning(task=state.tuned, way=state.way, examples=state.shots, seed=state.seed)


def run_of(tuning: Tuning) -> Tuned | None:
    """What there is of a run: as it stands while it is under way, else as it was kept; None if there is nothing."""
    step = sessions.latest(JOB, tuning)
    return step.tuned if isinstance(step, TuningStep) else find_run(tuning)


def badge(model: ModelState, state: TrainingState) -> str:
    """The facts beside the tabs. The sidebar's model is not on this page."""
    grid = shipped_grid(state.tuned)
    body = BODIES[tuning_of(state).body].title
    if grid is None:
        return f"○ {body}: nothing is computed yet"
    return f"◐ {body} · {formats.plural(len(grid.runs), 'run')} on {SETS[state.tuned].title.lower()}"


class KeptPanel(TrainingPanel):
    """A panel about what is kept, for which there may be nothing to draw."""

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of what is not there, nothing."""
        if cls(model, state).is_shown:
            return super().content(model, state)
        return maps.nothing(EMPTY) if cls.canvas is MAPS else lines.content([], about=EMPTY)


class GridPanel(KeptPanel):
    """A panel about all ways on a task."""

    @cached_property
    def grid(self) -> Grid:
        """What came out; to be asked for only where the panel is shown."""
        grid = shipped_grid(self.state.tuned)
        assert grid, NOTHING
        return grid

    @property
    def is_shown(self) -> bool:
        return shipped_grid(self.state.tuned) is not None

    @property
    def set(self) -> LabelledSet:
        """The sentences that are learned."""
        return SETS[self.state.tuned]

    @property
    def shots(self) -> int:
        """The number of examples that is chosen."""
        return self.state.shots

    @property
    def shape(self) -> str:
        return f"{len(WAYS)} ways × {len({run.tuning.seed for run in self.grid.runs})} seeds"

    def middle(self, way: str, examples: int = 0) -> float:
        """The median share of right labels over the seeds."""
        return median(self.grid.accuracies(way, examples or self.shots))

    def chance(self, share: float, other: float) -> float:
        """How far apart chance may make two shares of these held-out sentences."""
        return chance_between(share, self.grid.tested, other, self.grid.tested)

    def ahead(self, way: str, other: str, examples: int = 0, others: int = 0) -> int:
        """1 where a way is clearly ahead of another, -1 where that one is, 0 where seeds and chance may decide.

        Args:
            way: the first.
            other: the second.
            examples: that the first learns from; those that are chosen, if nothing else is said.
            others: that the second learns from; as many as the first, if nothing else is said.
        """
        examples = examples or self.shots
        first, second = self.grid.accuracies(way, examples), self.grid.accuracies(other, others or examples)
        return ahead(first, second, self.chance(median(first), median(second)))

    def ahead_of_bag(self, way: str) -> int:
        """The same beside naive Bayes on the same examples."""
        bags = [bag.accuracy for bag in self.grid.bags if bag.examples == self.shots]
        shares = self.grid.accuracies(way, self.shots)
        return ahead(shares, bags, self.chance(median(shares), median(bags)))

    @cached_property
    def best(self) -> str:
        """The way with the best median."""
        return max(WAYS, key=self.middle)

    @cached_property
    def level(self) -> list[str]:
        """The best way, and all that it is not clearly ahead of, the best first."""
        ranked = sorted(WAYS, key=self.middle, reverse=True)
        return [way for way in ranked if way == self.best or self.ahead(self.best, way) <= 0]


class TunedPanel(KeptPanel):
    """A panel about the run that the link names."""

    @cached_property
    def tuning(self) -> Tuning:
        """The run that is asked for."""
        return tuning_of(self.state)

    @property
    def way(self) -> Way:
        """Its way."""
        return WAYS[self.state.way]

    @cached_property
    def run(self) -> Tuned:
        """What there is of it; to be asked for only where the panel is shown."""
        run = run_of(self.tuning)
        assert run, "expected a run of fine-tuning, got none"
        return run

    @property
    def is_shown(self) -> bool:
        return run_of(self.tuning) is not None

    @property
    def key(self) -> str:
        # The link stays the same while a run grows: by another key the browser asks for the picture again.
        run = run_of(self.tuning)
        return f"{self.name}_{len(run.curve) if run else 0}"

    @property
    def named(self) -> str:
        """The run in words."""
        title = self.way.title[:1].upper() + self.way.title[1:]
        return f"{title}, {formats.count(self.tuning.examples)} examples, seed {self.tuning.seed}"

    @property
    def shape(self) -> str:
        return ""
