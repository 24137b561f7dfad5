"""What is told of a run of training: its tokens, on how many examples a point was measured, the line of its losses."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import EVALUATED, FINAL, held_out_count
from tfm_core.training.run import Point, Run
from tfm_core.training.tasks.task import IGNORED, PAD
from tfm_ui.pictures.lines import Line
from tfm_ui.text import formats

AT_LEAST = 10  # steps of a mean of training losses, where there are that many


def tokens_of(config: TrainingConfig, ids: Iterable[Any]) -> list[str]:
    """The tokens with these ids; "" where nothing is asked."""
    pieces = (PAD, *config.about.vocabulary)
    return ["" if number == IGNORED else pieces[int(number)] for number in ids]


def measured_on(run: Run, point: Point) -> int:
    """How many held-out examples a point was measured on: many only for the last point of a run that has ended."""
    ended = (run.is_complete or bool(run.problem)) and not run.config.file
    return held_out_count(run.config, FINAL if ended and point is run.last else EVALUATED)


def dated(run: Run) -> str:
    """How far the run is, where its last point is of an earlier step; "" where it is of the last step."""
    last = run.last.step
    if run.done <= last:
        return ""
    return f"By now {formats.plural(run.done, 'step')} are made; step {formats.count(last)} was measured last."


def smoothed(losses: Tensor, most: int) -> tuple[list[int], list[float], int]:
    """The step at which each mean ends, the means, and over how many steps each is: the same for all.

    Args:
        losses: (step), each of one batch, which says little by itself.
        most: means.
    """
    apart = max(1, -(-len(losses) // most))
    every = min(max(AT_LEAST, apart), len(losses))
    ends = list(range(len(losses), every - 1, -apart))[::-1] if every else []
    if not ends:
        return [], [], every
    windows = losses.unfold(0, every, 1)[[end - every for end in ends]]  # (mean, step)
    return ends, windows.mean(1).tolist(), every


def line_of_losses(run: Run, most: int, name: str, colour: str) -> Line:
    """The losses on what is trained on, as a thin line of at most so many points."""
    ends, means, every = smoothed(run.losses, most)
    return Line(f"{name}, mean of {every} steps", ends, means, colour, "thin")
