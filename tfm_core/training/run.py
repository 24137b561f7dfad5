"""What has come out of a run of training: its curves, its attention on the way, its weights."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from tfm_core.training.config import TrainingConfig


@dataclass(frozen=True)
class Point:
    """A point of the curve.

    Attributes:
        step: after how many steps; 0 is before the first.
        loss: on held-out examples, nats.
        accuracy: share of right answers on held-out examples.
        exact: share of held-out examples all of whose answers are right.
        scores: pattern -> layer -> head -> how far the head looks where it should, 0 to 1.
    """

    step: int
    loss: float
    accuracy: float
    exact: float
    scores: tuple[tuple[tuple[float, ...], ...], ...] = ()


@dataclass(frozen=True)
class Run:
    """A run, as far as it is.

    Attributes:
        config: what was asked for.
        losses: float32 (step), the loss of each batch before its step, nats.
        points: the curve.
        maps: site -> float32 (snapshot, probe, head, query, key), the weights of attention on the probes.
        said: int64 (snapshot, probe, place), the token, or the class, with the largest logit; see `Examples.answers`.
        snapshots: the step of each snapshot.
        weights: parameter -> its value, now.
        optimizer: what AdamW remembers: "<parameter>.exp_avg", "<parameter>.exp_avg_sq"; empty where not kept.
        seconds: that it took, with all looks at it on the way, but without the last one, over many more examples.
        stepping: those of the steps alone.
        problem: why it ended early, in a sentence; "" if it did not.
        made_with: the version of torch.
    """

    config: TrainingConfig
    losses: Tensor
    points: tuple[Point, ...]
    maps: Mapping[str, Tensor]
    said: Tensor
    snapshots: tuple[int, ...]
    weights: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    seconds: float
    stepping: float
    problem: str
    made_with: str

    @property
    def done(self) -> int:
        """How many steps were made."""
        return len(self.losses)

    @property
    def is_complete(self) -> bool:
        """Whether all steps were made, so that its weights stay as they are."""
        return bool(self.config.file) or self.done >= self.config.steps

    @property
    def nbytes(self) -> int:
        """Bytes of all its tensors."""
        groups = (self.weights, self.maps, self.optimizer)
        return sum(
            value.nbytes for value in (self.losses, self.said, *(each for group in groups for each in group.values()))
        )

    @property
    def last(self) -> Point:
        """The last point of the curve."""
        return self.points[-1]


@dataclass(frozen=True)
class Told:
    """What is remembered of a job that has ended: how far it came."""

    share: float
    seconds_left: float
    doing: str


@dataclass(frozen=True)
class Progress:
    """A step of the job: how far it is, and the run so far.

    Attributes:
        share: of the work, 0 to 1.
        seconds_left: an estimate.
        doing: in words.
        run: what there is by now.
    """

    share: float
    seconds_left: float
    doing: str
    run: Run

    def without_results(self) -> "Told":
        """How far it came, without the run."""
        return Told(self.share, self.seconds_left, self.doing)
