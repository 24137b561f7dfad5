"""The line of the losses on what is trained on, each point a mean of equally many steps: one batch says little."""

import math

from torch import Tensor

from tfm_core.training.tasks.task import Task
from tfm_ui.text import formats

ABOVE = 0.5  # nats: by so much weights as they are drawn may guess worse than evenly
AT_LEAST = 10  # steps, where there are that many


def smoothed(losses: Tensor, most: int) -> tuple[list[int], list[float], int]:
    """The step at which each mean ends, the means, and over how many steps each is: the same for all.

    Args:
        losses: (step), each of one batch.
        most: points of the line.
    """
    apart = max(1, -(-len(losses) // most))
    every = min(max(AT_LEAST, apart), len(losses))
    ends = list(range(len(losses), every - 1, -apart))[::-1] if every else []
    return ends, [losses[end - every : end].mean().item() for end in ends], every


def before_training(task: Task, loss: float) -> dict[str, bool]:
    """Drawn weights know nothing: their loss is about that of guessing evenly among all that the output can say."""
    count = task.outcomes
    among = formats.plural(count, "class", "classes") if task.classes else formats.plural(count, "token id")
    labels = f", of which {len(task.labels)} are labels," if task.labels and not task.classes else ""
    evenly = (
        f"guessing evenly among the {among}{labels} gives ln {formats.count(count)} = {formats.number(math.log(count))}"
    )
    law = f"before training the loss is {formats.number(loss)}, at most {ABOVE} above that of guessing: {evenly}"
    return {law: loss <= math.log(count) + ABOVE}
