"""How far a run has come, and when which head began to look where the answer stands."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_core.training.config import TrainingConfig
from tfm_core.training.run import Point, Run
from tfm_core.training.tasks.task import Examples, Pattern
from tfm_ui.pictures import chart, lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import Figure
from tfm_ui.pictures.learn.maps import AttentionRow, rows_of
from tfm_ui.pictures.learn.told import dated, line_of_losses, measured_on, tokens_of
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

CLEAR = 0.5  # the least weight of a head that is said to look where the answer stands
MOST_LOSSES = 400  # points of the line of training losses
STEP = "step of training"


@dataclass(frozen=True)
class Formed:
    """When a head began to look where it should."""

    pattern: Pattern
    """Which place that is."""

    layer: int
    head: int
    """Both from 1."""

    curve: Sequence[float]
    """Its score at each point of the run."""

    before: int
    after: int
    """The steps of the two points between which it rose most."""

    low: float
    high: float
    """The scores at these points."""

    @property
    def score(self) -> float:
        """The score at the end."""
        return self.curve[-1]


def formed(points: Sequence[Point], number: int, pattern: Pattern) -> Formed | None:
    """The head that looks most where the pattern says, and when it began to; None without points of a transformer.

    Args:
        points: the curve.
        number: that of the pattern, from 0.
        pattern: where to look.
    """
    if not points or not points[-1].scores:
        return None
    last = {
        (layer, head): score
        for layer, heads in enumerate(points[-1].scores[number])
        for head, score in enumerate(heads)
    }
    layer, head = max(last, key=lambda place: last[place])
    curve = [point.scores[number][layer][head] for point in points]
    rises = [after - before for before, after in pairwise(curve)]
    most = rises.index(max(rises)) if rises else 0
    later = min(most + 1, len(points) - 1)
    return Formed(
        pattern=pattern,
        layer=layer + 1,
        head=head + 1,
        curve=curve,
        before=points[most].step,
        after=points[later].step,
        low=curve[most],
        high=curve[later],
    )


@dataclass(frozen=True)
class Learned:
    """A run, as far as it is.

    Attributes:
        run: the run.
        example: the probe whose attention is drawn.
        by_chance: number of a pattern -> the score of a head that looks at all keys that it sees alike.
        probe: which of the run's probes the example is, from 0.
        live: whether the run is under way.
    """

    run: Run
    example: Examples
    by_chance: Callable[[int], float]
    probe: int = 0
    live: bool = False

    @property
    def config(self) -> TrainingConfig:
        """What was asked for."""
        return self.run.config

    @property
    def title(self) -> str:
        """What is learned, and whether all of it is."""
        return f"{self.config.about.title}: {'how it was learned' if self.run.is_complete else 'how it is learned'}"

    @cached_property
    def heads(self) -> list[Formed]:
        """The head that follows each pattern of the task best."""
        every = [formed(self.run.points, number, pattern) for number, pattern in enumerate(self.config.about.patterns)]
        return [head for head in every if head]

    def sentence(self) -> str:
        """What has been learned by now."""
        task, run, last = self.config.about, self.run, self.run.last
        examples = formats.plural(measured_on(run, last), "held-out example")
        if not run.done:
            return (
                f"{task.about} Nothing is trained yet: with random weights {formats.percent(last.accuracy)} of the "
                f"answers to {examples} are right, with a loss of {formats.number(last.loss)} nats; guessing "
                f"evenly among {task.outcomes} answers gives a loss of ln {task.outcomes} = "
                f"{formats.number(math.log(task.outcomes))}."
            )
        learned = (
            f"{task.about} After {formats.plural(last.step, 'step')} {formats.percent(last.accuracy)} of the answers "
            f"to {examples} are right, with a loss of {formats.number(last.loss)} nats."
        )
        ended = filter(None, [dated(run), run.problem])
        return " ".join([learned, *ended, *map(self._of_head, self.heads), task.note]).strip()

    def _of_head(self, head: Formed) -> str:
        """How clearly a head follows its pattern, and when it began to, beside one that looks everywhere alike."""
        who, name = f"Head {head.head} of layer {head.layer}", head.pattern.name
        if head.pattern.even:
            return f"{who} spreads its weight over “{name}”: evenness {formats.weight(head.score)} of 1."
        by_chance = self.by_chance(self.config.about.patterns.index(head.pattern))
        if head.score < max(CLEAR, 2 * by_chance):
            return (
                f"No head looks clearly at “{name}”: the most that one puts there is {formats.weight(head.score)}, and "
                f"equal weights would put {formats.weight(by_chance)}."
            )
        return (
            f"{who} puts {formats.weight(head.score)} of its weight on “{name}”; it rose most between steps "
            f"{head.before} and {head.after}, from {formats.weight(head.low)} to {formats.weight(head.high)}."
        )

    def content(self) -> Content:
        """The curves, the maps of one example at each snapshot, and what was measured and said there."""
        config, run, task, example = self.config, self.run, self.config.about, self.example
        rows = rows_of(config, example) if run.maps else []
        by_step = {point.step: point for point in run.points}
        points = [by_step[step] for step in run.snapshots if step in by_step]
        header = {
            "figure": chart.packed(self.curves()),
            "snapshots": list(run.snapshots),
            "told": [self._measured(point) for point in points],
            "rows": [
                {
                    "name": row.name,
                    "heads": config.num_heads,
                    "kind": row.kind,
                    "queries": row.queries,
                    "keys": row.keys,
                    "causal": row.kind == "self" and task.architecture != "encoder",
                    "scores": [self._scores(point, row) for point in points],
                }
                for row in rows
            ],
            "patterns": [
                {
                    "name": pattern.name,
                    "why": pattern.why,
                    "kind": pattern.kind,
                    "cells": pattern.cells(example)[0].nonzero().tolist() if not pattern.even else [],
                }
                for pattern in task.patterns
            ],
            "source": tokens_of(config, example.source[0].tolist()),
            "asked": self._answers(example.answers[0].reshape(-1).tolist()),
            "said": [self._answers(answers[self.probe].reshape(-1).tolist()) for answers in run.said],
            "done": run.done,
            "steps": config.steps,
            "live": self.live,
            "complete": run.is_complete or bool(run.problem),
        }
        return header, self._numbers(rows)

    def curves(self) -> Figure:
        """Loss, and shares between 0 and 1, over the steps."""
        points = self.run.points
        x = [point.step for point in points]
        guessing = float(np.log(self.config.about.outcomes))
        losses = [
            line_of_losses(self.run, MOST_LOSSES, "trained on", "muted"),
            Line("held out", x, [point.loss for point in points], "ink"),
        ]
        shares = [
            Line("right answers", x, [point.accuracy for point in points], "ink"),
            *(
                Line(f"{head.pattern.name}: L{head.layer} h{head.head}", x, head.curve, f"head {number}", "solid")
                for number, head in enumerate(self.heads, 1)
            ),
        ]
        return lines.figure(
            [
                Chart(STEP, f"loss, nats (guessing: {guessing:.2f})", losses, reach=(0, guessing)),
                Chart(STEP, "share right, and weight where the answer stands", shares, reach=(0, 1)),
            ]
        )

    def _measured(self, point: Point) -> str:
        """What was measured at a snapshot's step, and on how many examples."""
        loss = f"loss {formats.number(point.loss)}" if np.isfinite(point.loss) else "no finite loss"
        examples = formats.count(measured_on(self.run, point))
        return f"{formats.percent(point.accuracy)} right · {loss} · on {examples} examples"

    def _scores(self, point: Point, row: AttentionRow) -> list[dict[str, Any]]:
        """The score of each head for each pattern that is about this row's attention."""
        return [
            {"pattern": number, "heads": list(point.scores[number][row.layer])}
            for number, pattern in enumerate(self.config.about.patterns)
            if pattern.kind == row.kind and point.scores
        ]

    def _answers(self, ids: list[int]) -> list[str]:
        if self.config.about.classes:
            return [self.config.about.labels[number] for number in ids]
        if self.config.about.spans:  # the tokens at which it begins and ends
            return tokens_of(self.config, self.example.source[0, ids].tolist())
        return tokens_of(self.config, ids)

    def _numbers(self, rows: Sequence[AttentionRow]) -> NDArray[np.float32]:
        """Snapshot by snapshot, row by row: (head, query, key)."""
        if not rows:
            return np.zeros(0, np.float32)
        parts = [self.run.maps[row.site][:, self.probe].flatten(1).numpy() for row in rows]
        return np.concatenate(parts, 1).ravel().astype(np.float32)
