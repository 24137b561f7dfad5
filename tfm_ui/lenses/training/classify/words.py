"""Why random labels end where they do."""

import math

from tfm_ui.lenses.training.classify.numbers import NEAR, Classified, recent_loss
from tfm_ui.text import formats

RANDOM = "textbook-random"


def why_random(result: Classified) -> str:
    """What the run with random labels has come to, and why; "" where there is none yet."""
    runs = [run for run in (result.run, result.beside) if run and run.done and run.config.task == RANDOM]
    if not runs:
        return "The run with random labels is not there yet: choose it as the task, and press Train."
    run = runs[0]
    chance, last, train = result.chance, run.last, recent_loss(run)
    ends = (
        f"Random labels: {formats.percent(last.accuracy, 3)} of the held-out labels are right, with a loss of "
        f"{formats.number(last.loss)}; ln 3 is {formats.number(chance)}, and a third is 33.3%. Each label was drawn "
        "without a look at its sequence, so nothing that is learned from the training side tells one of the held-out "
        "side: a third for each label gives the lowest loss that one can expect, ln 3."
    )
    if train < chance - NEAR:
        return (
            f"{ends} The training loss has fallen to {formats.number(train)}: the network learns labels by heart. It "
            "becomes sure of itself, and on the held-out side that makes the loss larger."
        )
    return (
        f"{ends} The training loss ends at {formats.number(train)}: the labels could only be learned by heart, and "
        "that has not happened so far."
    )


def by_chance(examples: int, labels: int) -> float:
    """The standard deviation of the share of right answers by guessing."""
    return math.sqrt((1 / labels) * (1 - 1 / labels) / examples)
