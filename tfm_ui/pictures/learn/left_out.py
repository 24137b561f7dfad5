"""What no run is ever trained on: the same for all runs of a task, so that it is drawn, and looked at, once."""

from functools import lru_cache

from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, PROBES, held_out
from tfm_core.training.scores import chance
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import Examples

# There are few tasks. To draw the examples of a point, or to look whether
# the final ones were left out, takes 10 to 25 ms, as long as all the rest of a tick.
TASKS_AT_ONCE = 8


@lru_cache(maxsize=TASKS_AT_ONCE)
def measured_examples(task: str) -> Examples:
    """The held-out examples on which each point of a curve is measured."""
    return held_out(of_task(task), EVALUATED)


def probes_of(task: str) -> Examples:
    """The first of them, whose attention is kept."""
    return measured_examples(task)[:PROBES]


@lru_cache(maxsize=2 * TASKS_AT_ONCE)
def were_left_out(task: str, count: int) -> bool:
    """Whether all of so many held-out examples are on the side that is never trained on."""
    examples = measured_examples(task) if count == EVALUATED else held_out(of_task(task), count)
    return bool(TASKS[task].split(examples.source).all())


@lru_cache(maxsize=4 * TASKS_AT_ONCE)
def score_by_chance(task: str, pattern: int) -> float:
    """The score, for a pattern of the task, of a head that looks at all keys that it sees alike."""
    about = TASKS[task]
    return chance(about.patterns[pattern], measured_examples(task), causal=about.architecture != "encoder")
