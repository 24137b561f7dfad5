"""The step, and the number of held-out examples, that the numbers of a run belong to."""

from tfm_core.training.examples import EVALUATED, FINAL, held_out_count
from tfm_core.training.run import Point, Run
from tfm_ui.text import formats


def measured_on(run: Run, point: Point) -> int:
    """How many held-out examples a point was measured on: many only for the last point of a run that has ended."""
    ended = (run.is_complete or bool(run.problem)) and not run.config.file
    return held_out_count(run.config, FINAL if ended and point is run.last else EVALUATED)


def dated(run: Run) -> str:
    """How far the run is, where its last point is of an earlier step; "" where it is of the last step."""
    last = run.last.step
    if run.config.file or run.done <= last:
        return ""
    return f"By now {formats.plural(run.done, 'step')} are made; step {formats.count(last)} was measured last."
