"""What comes out of fine-tuning: a run, and a grid of runs with all ways, numbers of examples and seeds."""

from dataclasses import asdict, dataclass
from statistics import median

import torch
from torch import Tensor

from tfm_core.model.choices import check_choice
from tfm_core.training.compare.finetuning.labelled import BODIES, SETS, held_out
from tfm_core.training.compare.finetuning.looks import Heads, Looks
from tfm_core.training.compare.finetuning.ways import WAYS

NAME = "finetune"
SIZES = (50, 200, 1_000)  # examples
SEEDS = (0, 1, 2)
STEPS = {50: 60, 200: 100, 1_000: 200}  # the same for all ways
EVALUATED = 128  # held-out sentences of each point of a curve
SHOWN = range(11, 14)  # pieces of the sentence whose maps are kept: they can be read


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is fine-tuned, how, and on what.

    Attributes:
        task: a key of `SETS`.
        way: a key of `WAYS`.
        examples: one of `SIZES`.
        seed: of the examples, their order, the head and whatever else begins at random.
        body: a key of `BODIES`.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """

    task: str
    way: str
    examples: int
    seed: int = 0
    body: str = "lab-bert"

    def __post_init__(self) -> None:
        for field, choices in (("task", SETS), ("way", WAYS), ("body", BODIES)):
            check_choice(field, getattr(self, field), choices)
        if self.examples not in SIZES:
            raise ValueError(f"examples: expected one of {', '.join(map(str, SIZES))}; got {self.examples!r}")
        if type(self.seed) is not int or self.seed < 0:
            raise ValueError(f"seed: expected a whole number from 0 on, got {self.seed!r}")

    @property
    def steps(self) -> int:
        """How many steps are made."""
        return STEPS[self.examples]

    @property
    def name(self) -> str:
        """Its name as a file."""
        return "-".join(map(str, asdict(self).values()))


@dataclass(frozen=True)
class TunedPoint:
    """A point of the curve.

    Attributes:
        step: after how many steps.
        loss: of training, the mean since the point before, nats; None before the first step.
        accuracy: share of right labels, of the first `EVALUATED` held-out sentences.
    """

    step: int
    loss: float | None
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What has come of it.

    Attributes:
        tuning: what was asked for.
        trained: how many parameters were trained.
        seconds: that the steps took, without the looks at it on the way.
        curve: its points.
        accuracy: share of right labels of all held-out sentences, at the end; so far None.
        before: where the heads looked before the first step.
        after: and where at the end.
        moved: how far each head's weights have moved, see `looks.moved`.
        maps: "before" and "after" -> (layer, head, query, key), the weights on `shown_sentence`; may be left out.
        made_with: the version of torch.
    """

    tuning: Tuning
    trained: int
    seconds: float
    curve: tuple[TunedPoint, ...]
    accuracy: float | None
    before: Looks
    after: Looks | None
    moved: Heads
    maps: dict[str, Tensor]
    made_with: str


@dataclass(frozen=True)
class Bag:
    """What naive Bayes reaches with the same examples.

    Attributes:
        examples: how many.
        seed: that has drawn them.
        accuracy: share of right labels, of all held-out sentences.
    """

    examples: int
    seed: int
    accuracy: float


@dataclass(frozen=True)
class Grid:
    """What has come out of one task.

    Attributes:
        task: a key of `SETS`.
        body: a key of `BODIES`.
        runs: with each way, number of examples and seed, as far as there are.
        bags: of naive Bayes, over the same pieces.
        most_frequent: the share of held-out sentences that have the label that is the most frequent of the training
            side.
        tested: how many sentences are held out.
        parameters: of the whole network.
        seconds: that all of it took.
    """

    task: str
    body: str
    runs: tuple[Tuned, ...]
    bags: tuple[Bag, ...]
    most_frequent: float
    tested: int
    parameters: int
    seconds: float

    def of(self, way: str, examples: int) -> tuple[Tuned, ...]:
        """The runs of a way with so many examples."""
        return tuple(run for run in self.runs if (run.tuning.way, run.tuning.examples) == (way, examples))

    def accuracies(self, way: str, examples: int) -> list[float]:
        """The share of right labels of each seed."""
        return [run.accuracy for run in self.of(way, examples) if run.accuracy is not None]

    def bag(self, examples: int) -> float:
        """The median of naive Bayes over the seeds."""
        return median(bag.accuracy for bag in self.bags if bag.examples == examples)


def shown_sentence(task: str, body: str) -> Tensor:
    """The first held-out sentence that is short enough for its maps to be read: token ids (1, seq)."""
    every = held_out(task, body)
    lengths = (every.source != BODIES[body].config.pad_id).sum(1)
    fits = (lengths >= SHOWN.start) & (lengths < SHOWN.stop)
    number = int(fits.long().argmax())
    return every.source[number : number + 1, : lengths[number]]


def shape_of_maps(tuning: Tuning) -> torch.Size:
    """The shape of the maps on the shown sentence: (layer, head, query, key)."""
    config, length = BODIES[tuning.body].config, shown_sentence(tuning.task, tuning.body).shape[1]
    return torch.Size((config.num_layers, config.num_heads, length, length))
