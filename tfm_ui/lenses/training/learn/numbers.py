"""What the view "learn" says: how far the run has come, and when which head began to look where the answer stands."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import pandas as pd

from tfm_core import TrainingConfig
from tfm_core.training.config import read_name
from tfm_core.training.examples import EVALUATED, held_out
from tfm_core.training.run import Point, Run
from tfm_core.training.schedule import FLAT
from tfm_core.training.scores import chance
from tfm_core.training.train import BETA1, train
from tfm_ui.lenses.training.dated import dated, measured_on
from tfm_ui.lenses.training.losses import before_training
from tfm_ui.live.script import Code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

KINDS = {"decoder": "decoder-only"}  # as all pages call it
CLEAR = 0.5  # the least weight of a head that is said to look where the answer stands


@dataclass(frozen=True)
class Formed:
    """When a head began to look where it should.

    Attributes:
        pattern: which place that is.
        layer, head: from 1.
        score: at the end.
        before, after: the steps of the two points between which it rose most.
        low, high: the scores at these points.
    """

    pattern: str
    layer: int
    head: int
    score: float
    before: int
    after: int
    low: float
    high: float


def formed(points: Sequence[Point], pattern: int, name: str) -> Formed | None:
    """The head that looks most where the pattern says, and when it began to; None without points of a transformer.

    Args:
        points: the curve.
        pattern: its number, from 0.
        name: its name.
    """
    if not points or not points[-1].scores:
        return None
    last = {
        (layer, head): score
        for layer, heads in enumerate(points[-1].scores[pattern])
        for head, score in enumerate(heads)
    }
    layer, head = max(last, key=lambda place: last[place])
    curve = [point.scores[pattern][layer][head] for point in points]
    rises = [after - before for before, after in pairwise(curve)]
    most = rises.index(max(rises)) if rises else 0
    later = min(most + 1, len(points) - 1)
    return Formed(
        pattern=name,
        layer=layer + 1,
        head=head + 1,
        score=curve[-1],
        before=points[most].step,
        after=points[later].step,
        low=curve[most],
        high=curve[later],
    )


def training(*, config: TrainingConfig) -> Run:
    """A run from its first step to its last."""
    for progress in train(config):
        run = progress.run
    return run


@dataclass(frozen=True)
class Learned(Result):
    """A run, as far as it is.

    Attributes:
        config: what was asked for.
        run: what there is of it: before the first step, its first weights.
    """

    config: TrainingConfig
    run: Run

    @property
    def is_begun(self) -> bool:
        """Whether it has been trained at all, here or elsewhere."""
        return bool(self.run.done or self.config.file)

    @property
    def examples(self) -> str:
        """The number of held-out examples on which the last point was measured."""
        return formats.plural(measured_on(self.run, self.run.last), "held-out example")

    @cached_property
    def heads(self) -> list[Formed]:
        """The head that follows each pattern of the task best."""
        every = [formed(self.run.points, i, pattern.name) for i, pattern in enumerate(self.config.about.patterns)]
        return [head for head in every if head]

    def sentence(self) -> str:
        """What has been learned by now."""
        task = self.config.about
        last = self.run.last
        if not self.is_begun:
            return (
                f"{task.about} Nothing is trained yet: with random weights {formats.percent(last.accuracy)} of the "
                f"answers to {self.examples} are right, with a loss of {formats.number(last.loss)} nats; guessing "
                f"evenly among {task.outcomes} answers gives a loss of ln {task.outcomes} = "
                f"{formats.number(math.log(task.outcomes))}."
            )
        told = [
            f"{task.about} After {formats.plural(last.step, 'step')} {formats.percent(last.accuracy)} of the answers "
            f"to {self.examples} are right, with a loss of {formats.number(last.loss)} nats.",
            *filter(None, [dated(self.run)]),
        ]
        return " ".join([*told, *filter(None, [self.run.problem]), *map(self._of_head, self.heads), task.note]).strip()

    def _of_head(self, head: Formed) -> str:
        pattern = next(pattern for pattern in self.config.about.patterns if pattern.name == head.pattern)
        by_chance = self.chances[head.pattern]
        who = f"Head {head.head} of layer {head.layer}"
        if pattern.even:
            return f"{who} spreads its weight over “{head.pattern}”: evenness {formats.weight(head.score)} of 1."
        if head.score < max(CLEAR, 2 * by_chance):
            return (
                f"No head looks clearly at “{head.pattern}”: the most that one puts there is "
                f"{formats.weight(head.score)}, and equal weights would put {formats.weight(by_chance)}."
            )
        return (
            f"{who} puts {formats.weight(head.score)} of its weight on “{head.pattern}”; it rose most between steps "
            f"{head.before} and {head.after}, from {formats.weight(head.low)} to {formats.weight(head.high)}."
        )

    @cached_property
    def chances(self) -> Mapping[str, float]:
        """Pattern -> the score of a head that looks everywhere alike."""
        examples = held_out(self.config, EVALUATED)
        causal = self.config.about.architecture != "encoder"
        return {pattern.name: chance(pattern, examples, causal=causal) for pattern in self.config.about.patterns}

    def table(self) -> pd.DataFrame:
        """A row per point of the curve."""
        rows, before = [], 0
        for point in self.run.points:
            row: dict[str, float] = {
                "training loss, mean since the row above": float(self.run.losses[before : point.step].mean()),
                "held-out examples": measured_on(self.run, point),
                "held-out loss": point.loss,
                "held-out accuracy": point.accuracy,
                "whole examples right": point.exact,
            }
            for pattern, layers in zip(self.config.about.patterns, point.scores, strict=False):
                for layer, heads in enumerate(layers, 1):
                    row |= {f"{pattern.name}: layer {layer} head {i}": score for i, score in enumerate(heads, 1)}
            rows.append(row)
            before = point.step
        return pd.DataFrame(rows, index=pd.Index([point.step for point in self.run.points], name="step"))

    def laws(self) -> Mapping[str, bool]:
        """What must hold of the maps on screen, of the beginning, and of what was held out."""
        begin = self.run.points[0]
        sums = [maps.sum(-1) for maps in self.run.maps.values()]
        told = {
            "no held-out example was trained on": bool(
                self.config.about.split(held_out(self.config, EVALUATED).source).all()
            )
        }
        if begin.step == 0:
            told |= before_training(self.config.about, begin.loss)
        if sums:
            told["rows of weights sum to 1"] = all(bool((rows - 1).abs().max() < 1e-5) for rows in sums)
        return told

    def recipe(self) -> str:
        """The same run, without the app."""
        if self.config.file:
            return ""
        return script(training, config=Code(f"read_name({self.config.name!r})", read_name))


def _optimizer(config: TrainingConfig) -> str:
    betas = f"β {BETA1:g} and {config.beta2:g}"
    return (
        f"AdamW with weight decay {config.weight_decay:g} and {betas}" if config.weight_decay else f"Adam with {betas}"
    )


def _schedule(config: TrainingConfig) -> str:
    warmup = f" after {formats.plural(config.warmup, 'step')} of warm-up" if config.warmup else ""
    if config.schedule == "constant":
        return f"{warmup}, constant"
    return f"{warmup}, falling with 1/√step from step {max(FLAT, config.warmup)} on"


def facts(config: TrainingConfig, run: Run | None) -> str:
    """What the run is made of, also what "auto" stands for."""
    layers, heads = formats.plural(config.num_layers, "layer"), formats.plural(config.num_heads, "head")
    kind = KINDS.get(config.about.architecture, config.about.architecture)
    parts = [
        f"{kind}, {layers}, {heads}, d_model {config.d_model}, {config.positional} positions",
        f"{config.norm}-norm",
        *([f"pooling: {config.pooling}"] if config.about.classes else []),
        config.activation,
        f"{_optimizer(config)}, learning rate {config.learning_rate:g}{_schedule(config)}",
        f"gradients cut to a norm of {config.clip:g}" if config.clip else "gradients as they are",
        f"dropout {config.dropout:g}",
        f"{config.batch_size} examples a step",
        f"seed {config.seed}",
        "a fifth of all sequences, chosen by a hash, is held out and never trained on",
    ]
    made = f", made with {run.made_with}" if run and (run.done or config.file) else ""
    return f"{'; '.join(parts)}{made}."
