"""How many labels are right, beside the baselines, and what overfitting is there."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import pandas as pd

from tfm_core import TrainingConfig
from tfm_core.training.baselines import Baseline, baselines, logistic_regression, naive_bayes, trained_on
from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, FINAL, held_out_count
from tfm_core.training.run import Point, Run
from tfm_core.training.train import train
from tfm_core.training.verdict import ahead, chance_between
from tfm_ui.lenses.training.panels import RunPanel, before_training
from tfm_ui.lenses.training.runs import run_of
from tfm_ui.live.cache import cached, never
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.learn.left_out import were_left_out
from tfm_ui.pictures.learn.told import dated, line_of_losses, measured_on
from tfm_ui.pictures.line_axes import Scale
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

RISE = 1.1  # the factor by which the held-out loss must have grown before a sentence calls that overfitting
STAYS = 3  # points at which it must have grown so: one of few examples may be large by chance
NEAR = 0.1  # nats: a loss that is so near another one
STEP = "step of training"
COLOURS = ("muted", "head 1", "head 3")  # of the baselines
OF_RUN, OF_BESIDE = "ink", "head 2"
MANY = 100  # answers to choose from
MOST_LOSSES = 60  # points of the line of training losses
RULE, RANDOM = "textbook", "textbook-random"
BESIDE = {RULE: RANDOM, RANDOM: RULE}  # shown together
NAMES = {RULE: "the rule’s labels", RANDOM: "random labels"}  # of a run beside another one


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


@cached(heavy=never, always_kept=32)
def _baselines(config: TrainingConfig) -> list[Baseline]:
    return baselines(config)


class Classify(RunPanel):
    """A run of a classifier, and what it is measured against."""

    task_field = "labelled"
    sources = (train, baselines, naive_bayes, logistic_regression)
    canvas = CHART

    @cached_property
    def trained(self) -> Run | None:
        """What there is of the run; None where nobody has trained it."""
        return run_of(self.config)

    @cached_property
    def beside(self) -> Run | None:
        """The run with random labels, or the one with labels that mean something; None without such a pair."""
        other = BESIDE.get(self.config.task)
        return run_of(replace(self.config, task=other)) if other else None

    @property
    def runs(self) -> list[Run]:
        """The run and the one beside it, as far as they are there."""
        return [run for run in (self.trained, self.beside) if run]

    @property
    def has_ended(self) -> bool:
        """Whether the weights of the run stay as they are."""
        return bool(self.trained and (self.trained.is_complete or self.trained.problem))

    @cached_property
    def baselines(self) -> list[Baseline]:
        """The most frequent label, then bags of words: of the task alone, and for generated examples of those drawn."""
        config, drawn_by = self.config, ("seed", "steps", "batch_size")
        changes = {} if config.about.examples else {name: getattr(config, name) for name in drawn_by}
        return _baselines(of_task(config.task, **changes))

    @property
    def measured(self) -> int:
        """The number of held-out examples."""
        return held_out_count(self.config, FINAL)

    @property
    def key(self) -> str:
        # The link stays the same while a run grows: by another key the browser asks for the picture again.
        return "_".join([self.name, *(str(run.done) for run in self.runs)])

    @property
    def title(self) -> str:
        return self.config.about.title

    @property
    def how_to_read(self) -> str:
        return (
            f"Dashed: what is reached without a network. Points on the way are measured over {EVALUATED} held-out "
            f"examples, the last one over {formats.count(self.measured)}. Thin: the loss on what is trained on, with "
            "dropout."
        )

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
        task, run, measured = self.config.about, self.trained, formats.count(self.measured)
        simple = formats.listed([f"{formats.percent(each.accuracy, 3)} ({each.name})" for each in self.baselines])
        if run is None:
            return f"{task.about} Nothing is trained yet. Without a network: {simple} of {measured} held-out labels."
        last, tested = run.last, measured_on(run, run.last)
        of = f", of {measured} labels" * (tested != self.measured)
        return " ".join(
            [
                f"{task.about} After {formats.plural(last.step, 'step')} {formats.percent(last.accuracy, 3)} of "
                f"{formats.count(tested)} held-out labels are right, with a loss of {formats.number(last.loss)} nats. "
                f"Without a network{of}: {simple}.",
                *filter(None, [dated(run), self.ahead(), self.overfits(), run.problem]),
            ]
        )

    def doubt(self, run: Run) -> float:
        """How far apart chance may make the network and the best bag of words."""
        return chance_between(run.last.accuracy, measured_on(run, run.last), self.best.accuracy, self.measured)

    def ahead(self) -> str:
        """Whether the network or the best bag of words is ahead."""
        if (run := self.trained) is None:
            return ""
        ours, best, least = run.last.accuracy, self.best, self.baselines[0].accuracy
        network, bag = formats.percent(ours, 3), formats.percent(best.accuracy, 3)
        doubt = self.doubt(run)
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
        run = self.trained
        return ahead([run.last.accuracy], [self.best.accuracy], self.doubt(run)) if run else 0

    def overfits(self) -> str:
        """Whether the held-out loss grows while the training loss falls."""
        run = self.trained
        if run is None or not self.config.about.examples or (low := turn(run.points)) is None:
            return ""  # generated examples are new at each step
        then, last = run.points[-2:]
        if recent_loss(run) > then.loss:
            return ""
        return (
            f"It overfits: on the same {measured_on(run, low)} held-out examples the loss is lowest after step "
            f"{low.step} ({formats.number(low.loss)}) and {formats.number(then.loss)} after step {then.step}. After "
            f"step {last.step} it is {formats.number(last.loss)} on {measured_on(run, last)} held-out examples, and "
            f"the training loss, the mean of the last epoch, is {formats.number(recent_loss(run))}."
        )

    def why_random(self) -> str:
        """What the run with random labels has come to, and why they end where they do."""
        run = next((run for run in self.runs if run.config.task == RANDOM), None)
        if run is None:
            return "The run with random labels is not there yet: choose it as the task, and press Train."
        last, loss = run.last, recent_loss(run)
        ends = (
            f"Random labels: {formats.percent(last.accuracy, 3)} of the held-out labels are right, with a loss of "
            f"{formats.number(last.loss)}; ln 3 is {formats.number(self.chance)}, and a third is 33.3%. Each label was "
            "drawn without a look at its sequence, so nothing that is learned from the training side tells one of the "
            "held-out side: a third for each label gives the lowest loss that one can expect, ln 3."
        )
        if loss < self.chance - NEAR:
            return (
                f"{ends} The training loss has fallen to {formats.number(loss)}: the network learns labels by heart. "
                "It becomes sure of itself, and on the held-out side that makes the loss larger."
            )
        return (
            f"{ends} The training loss ends at {formats.number(loss)}: the labels could only be learned by heart, and "
            "that has not happened so far."
        )

    def table(self) -> pd.DataFrame:
        """A row per point of the curve, and of each baseline."""
        rows: dict[str, tuple[float, float]] = {}
        for run in self.runs:
            name = run.config.about.title
            rows |= {f"{name}, step {point.step}": (point.accuracy, point.loss) for point in run.points}
        rows |= {each.name: (each.accuracy, each.loss) for each in self.baselines}
        return pd.DataFrame(rows.values(), index=pd.Index(rows, name="who"), columns=["right labels", "loss, nats"])

    def laws(self) -> Mapping[str, bool]:
        """Whether held-out sequences were left out of training, and whether the first loss is one of guessing."""
        return {
            "no held-out sequence was trained on": were_left_out(self.config.task, FINAL),
            **before_training(self.config.about, self.trained.points[0] if self.trained else None),
        }

    def recipe(self) -> str:
        return self.script_of_run(run_and_baselines)

    def picture(self) -> Content:
        """Right labels on the left with the baselines as horizontal lines, loss on the right with that of guessing."""
        across = [0, max([self.config.steps, *(run.done for run in self.runs)])]
        shares, losses = [], []
        for run in self.runs:
            name, colour = ("", OF_RUN) if run is self.trained else (f"{NAMES[run.config.task]}: ", OF_BESIDE)
            x = [point.step for point in run.points]
            shares.append(Line(f"{name}held out", x, [point.accuracy for point in run.points], colour))
            losses.append(Line(f"{name}held out", x, [point.loss for point in run.points], colour))
            losses.append(line_of_losses(run, MOST_LOSSES, f"{name}trained on", colour))
        for each, colour in zip(self.baselines, COLOURS, strict=True):
            shares.append(Line(each.name, across, [each.accuracy] * 2, colour, "dashed"))
        losses.append(Line(f"ln {len(self.config.about.labels)}", across, [self.chance] * 2, "muted", "dashed"))
        # Where labels are tokens of a large vocabulary, the first losses are many times those that matter.
        scale: Scale = "log10" if self.config.about.outcomes > MANY else "linear"
        return lines.content(
            [
                Chart(STEP, "right labels, held out", shares, reach=(0, 1)),
                Chart(STEP, "loss, nats", losses, y_scale=scale, reach=(0,) if scale == "linear" else ()),
            ]
        )
