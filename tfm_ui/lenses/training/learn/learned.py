"""The panel of a run: how far it has come, and when which head began to look where the answer stands."""

from collections.abc import Mapping
from functools import cached_property, partial

import pandas as pd

from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import EVALUATED
from tfm_core.training.run import Run
from tfm_core.training.scores import pattern_score
from tfm_core.training.train import train
from tfm_ui.lenses.training.learn import weights
from tfm_ui.lenses.training.panels import RunPanel, before_training
from tfm_ui.lenses.training.runs import is_under_way
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.learn.learned import Formed, Learned, formed
from tfm_ui.pictures.learn.left_out import probes_of, score_by_chance, were_left_out
from tfm_ui.pictures.learn.maps import LEARN, rows_of
from tfm_ui.pictures.learn.told import measured_on


def training(*, config: TrainingConfig) -> Run:
    """A run from its first step to its last."""
    for progress in train(config):
        run = progress.run
    return run


class Learn(RunPanel):
    """A run, as far as it is."""

    how_to_read = (
        "Drag the slider below the maps: the line in the charts shows which step they are of. Outlined cells are where "
        "the answer stands. Weights of attention go from 0 to 1; a cell without a number beside others with one has a "
        "weight under 0.005."
    )
    sources = (train, pattern_score, formed)
    canvas = LEARN

    @property
    def title(self) -> str:
        return self.learned.title

    @property
    def learned(self) -> Learned:
        """The run, as it is drawn and told."""
        task, probe = self.config.task, self.state.probe - 1
        example = probes_of(task)[probe : probe + 1]
        return Learned(self.run, example, partial(score_by_chance, task), probe, is_under_way(self.config))

    @cached_property
    def heads(self) -> list[Formed]:
        """The head that follows each pattern of the task best."""
        return self.learned.heads

    @property
    def tensors(self) -> Step:
        axes = ("snapshot", "example", "head", "query", "key")
        rows = rows_of(self.config, probes_of(self.config.task)[:1]) if self.run.maps else []
        about = "the weights on the examples on screen, by snapshot"
        maps = [held(f"weights_{row.name.replace(' ', '_')}", axes, self.run.maps[row.site], about) for row in rows]
        losses = held("losses", ("step",), self.run.losses, "the loss of each step, in nats")
        return Step(self.title, [losses, *maps], note="Training is not run again: what it left is taken as it is.")

    def picture(self) -> Content:
        return self.learned.content()

    def sentence(self) -> str:
        """What has been learned by now."""
        return self.learned.sentence()

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
        task, sums = self.config.about, [maps.sum(-1) for maps in self.run.maps.values()]
        left_out = were_left_out(self.config.task, EVALUATED)
        laws = {"no held-out example was trained on": left_out, **before_training(task, self.run.points[0])}
        if sums:
            laws["rows of weights sum to 1"] = all(bool((rows - 1).abs().max() < 1e-5) for rows in sums)
        return laws

    def recipe(self) -> str:
        return self.script_of_run(training)

    def tools(self) -> None:
        """Draw what hands on the weights, and loads others."""
        weights.draw(self.run)
