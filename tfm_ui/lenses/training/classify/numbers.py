"""What the view "classify" says: how many labels are right, beside the baselines, and what overfitting is there."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tfm_core import TrainingConfig
from tfm_core.training.baselines import Baseline, baselines, trained_on
from tfm_core.training.config import read_name
from tfm_core.training.examples import FINAL, held_out
from tfm_core.training.run import Point, Run
from tfm_core.training.train import train
from tfm_core.training.verdict import ahead, chance_between
from tfm_ui.lenses.training.dated import dated, measured_on
from tfm_ui.lenses.training.losses import before_training
from tfm_ui.live.script import Code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

RISE = 1.1  # the factor by which the held-out loss must have grown before a sentence calls that overfitting
STAYS = 3  # points at which it must have grown so: one of few examples may be large by chance
NEAR = 0.1  # nats: a loss that is so near another one


def run_and_baselines(*, config: TrainingConfig) -> tuple[Run, list[Baseline]]:
    """A run from its first step to its last, and the baselines."""
    simple = baselines(config)
    for progress in train(config):
        run = progress.run
    return run, simple


def turn(points: Sequence[Point]) -> Point | None:
    """The point with the lowest held-out loss, if the loss has clearly grown since.

    The last points on the same examples must show it, and the very last one, which is measured over more examples.
    """
    same = points[:-1]
    best = min(same, key=lambda point: point.loss, default=None)
    later = [point for point in same if best and point.step > best.step][-STAYS:] + list(points[-1:])
    grown = len(later) > STAYS and best is not None and all(point.loss > RISE * best.loss for point in later)
    return best if grown else None


def recent_loss(run: Run) -> float:
    """The mean training loss of the last epoch, of generated examples of the last 50 steps, nats."""
    config = run.config
    steps = -(-len(trained_on(config)) // config.batch_size) if config.about.examples else 50
    return float(run.losses[-steps:].mean())


@dataclass(frozen=True)
class Classified(Result):
    """A run of a classifier, and what it is measured against.

    Attributes:
        config: what was asked for.
        run: what there is of it.
        baselines: the most frequent label, then bags of words.
        measured: over how many held-out examples.
        beside: the run with random labels, or the one with labels that mean something; None without such a pair.
    """

    config: TrainingConfig
    run: Run | None
    baselines: Sequence[Baseline]
    measured: int
    beside: Run | None = None

    @property
    def best(self) -> Baseline:
        """The bag of words that is right most often."""
        return max(self.baselines[1:], key=lambda baseline: baseline.accuracy)

    @property
    def chance(self) -> float:
        """The loss of who gives each label the same probability, nats."""
        return math.log(len(self.config.about.labels))

    def sentence(self) -> str:
        """How many labels are right, and who is ahead."""
        task, measured = self.config.about, formats.count(self.measured)
        simple = formats.listed([f"{formats.percent(each.accuracy, 3)} ({each.name})" for each in self.baselines])
        if self.run is None or not self.run.done:
            return f"{task.about} Nothing is trained yet. Without a network: {simple} of {measured} held-out labels."
        last, tested = self.run.last, measured_on(self.run, self.run.last)
        of = f", of {measured} labels" * (tested != self.measured)
        return " ".join(
            [
                f"{task.about} After {formats.plural(last.step, 'step')} {formats.percent(last.accuracy, 3)} of "
                f"{formats.count(tested)} held-out labels are right, with a loss of {formats.number(last.loss)} nats. "
                f"Without a network{of}: {simple}.",
                *filter(None, [dated(self.run), self.ahead(), self.overfits(), self.run.problem]),
            ]
        )

    def ahead(self) -> str:
        """Whether the network or the best bag of words is ahead."""
        if self.run is None or not self.run.done:
            return ""
        ours, best, least = self.run.last.accuracy, self.best, self.baselines[0].accuracy
        network, bag = formats.percent(ours, 3), formats.percent(best.accuracy, 3)
        doubt = chance_between(ours, measured_on(self.run, self.run.last), best.accuracy, self.measured)
        if max(ours, best.accuracy) - least < doubt:
            return "Neither the network nor a bag of words is clearly better than always the most frequent label."
        if ours == best.accuracy:
            return f"Network and bag of words ({best.name}) are right equally often."
        if self.who_is_ahead:
            who = {1: "The network is ahead of the best bag of words", -1: "A bag of words is ahead of the network"}
            first, second = (network, f"{bag} ({best.name})")[:: self.who_is_ahead]
            return f"{who[self.who_is_ahead]}: {first} against {second}, more than chance can make."
        return (
            f"The network, {network}, and the best bag of words ({best.name}), {bag}, lie "
            f"{100 * abs(ours - best.accuracy):.1f} points apart. That is within chance "
            f"(±{100 * doubt:.1f} points): there is no difference that these examples can show."
        )

    @property
    def who_is_ahead(self) -> int:
        """1 where the network is ahead of the best bag of words, -1 where that is ahead, 0 where chance may decide."""
        if self.run is None or not self.run.done:
            return 0
        ours, best = self.run.last.accuracy, self.best.accuracy
        return ahead([ours], [best], chance_between(ours, measured_on(self.run, self.run.last), best, self.measured))

    def overfits(self) -> str:
        """Whether the held-out loss grows while the training loss falls."""
        if self.run is None or not self.config.about.examples or (low := turn(self.run.points)) is None:
            return ""  # generated examples are new at each step
        then, last = self.run.points[-2:]
        if recent_loss(self.run) > then.loss:
            return ""
        return (
            f"It overfits: on the same {measured_on(self.run, low)} held-out examples the loss is lowest after step "
            f"{low.step} ({formats.number(low.loss)}) and {formats.number(then.loss)} after step {then.step}. After "
            f"step {last.step} it is {formats.number(last.loss)} on {measured_on(self.run, last)} held-out examples, "
            f"and the training loss, the mean of the last epoch, is {formats.number(recent_loss(self.run))}."
        )

    def table(self) -> pd.DataFrame:
        """A row per point of the curve, and of each baseline."""
        rows: dict[str, tuple[float, float]] = {}
        for run in filter(None, [self.run, self.beside]):
            name = run.config.about.title
            rows |= {f"{name}, step {point.step}": (point.accuracy, point.loss) for point in run.points}
        rows |= {each.name: (each.accuracy, each.loss) for each in self.baselines}
        return pd.DataFrame(rows.values(), index=pd.Index(rows, name="who"), columns=["right labels", "loss, nats"])

    def laws(self) -> Mapping[str, bool]:
        """Whether held-out sequences were left out of training, and whether the first loss is one of guessing."""
        task = self.config.about
        test = held_out(self.config, FINAL).source
        held = {"no held-out sequence was trained on": bool(task.split(test).all())}
        first = self.run.points[0] if self.run else None
        if first and first.step == 0:
            held |= before_training(task, first.loss)
        return held

    def recipe(self) -> str:
        """The same run and baselines, without the app."""
        if self.config.file:
            return ""
        return script(run_and_baselines, config=Code(f"read_name({self.config.name!r})", read_name))
