"""Other lengths than the one that was trained: how well a network does on sequences up to four times as long."""

import torch

from tfm_core.positional.schemes import POSITIONAL
from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import held_out
from tfm_core.training.networks import network
from tfm_core.training.run import Run
from tfm_core.training.scores import look
from tfm_core.training.tasks.task import IGNORED, Examples

TIMES = (1.0, 1.5, 2.0, 3.0, 4.0)  # the trained length
MEASURED = 512  # examples of each length


def lengths_of(config: TrainingConfig) -> tuple[int, ...]:
    """The lengths, about `TIMES` the trained one; that one alone, where a task has no examples of other lengths.

    All are even or all are odd, as the trained one is: copies need two halves, a majority needs an odd number of
    letters, brackets need partners.
    """
    length = config.about.length
    if not config.about.stretches:
        return (length,)
    longer = (round(times * length) for times in TIMES)
    return tuple(long + (long - length) % 2 for long in longer)


def is_defined(config: TrainingConfig, length: int) -> bool:
    """Whether the network can read this length: a table of positions ends at the trained length."""
    ends = POSITIONAL[config.positional].ends_at_max_len()
    return config.network != "transformer" or not ends or length <= config.about.length


def by_length(run: Run) -> tuple[float | None, ...]:
    """The share of right answers at each of `lengths_of`; None where the network is not defined."""
    model = network(run.config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(run.weights[name])
    return tuple(
        look(model, examples_of(run.config, length), attention=False).accuracy
        if is_defined(run.config, length)
        else None
        for length in lengths_of(run.config)
    )


def examples_of(config: TrainingConfig, length: int) -> Examples:
    """The held-out examples of this length, the same for all runs of a task."""
    return held_out(config, MEASURED, length=length, purpose="lengths")


def guessing(config: TrainingConfig) -> tuple[float, ...]:
    """What somebody gets right who always gives the most frequent answer, at each of `lengths_of`."""
    shares = []
    for length in lengths_of(config):
        answers = examples_of(config, length).answers
        asked = answers[answers != IGNORED]
        shares.append(float(asked.bincount().max() / len(asked)))
    return tuple(shares)
