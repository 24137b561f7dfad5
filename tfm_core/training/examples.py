"""The batches of a run: a pure function of its configuration and the step, so that it can be continued anywhere."""

from collections.abc import Iterator
from functools import cache

import torch

from tfm_core.model.initialization import generator
from tfm_core.training.config import TrainingConfig
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import Examples, draw

AT_ONCE = 64  # steps whose examples are drawn at a time: a draw of 64 batches costs little more than one of one
EVALUATED = 128  # held-out examples of each point of the curve
FINAL = 2048  # and of the last one
PROBES = 2  # the first of them, whose attention is kept


def batches(config: TrainingConfig, begin: int = 0) -> Iterator[Examples]:
    """The examples of the steps from `begin` on, without end."""
    return _epochs(config, begin) if config.about.examples else _drawn(config, begin)


def _drawn(config: TrainingConfig, begin: int) -> Iterator[Examples]:
    size = config.batch_size
    while True:
        part, within = divmod(begin, AT_ONCE)
        numbers = generator(config.seed, f"examples {part}")
        drawn = draw(config.about, numbers, AT_ONCE * size, held_out=False)
        for step in range(within, AT_ONCE):
            yield drawn[step * size : (step + 1) * size]
        begin = (part + 1) * AT_ONCE


def _epochs(config: TrainingConfig, begin: int) -> Iterator[Examples]:
    """All examples once in each epoch, in another order; the last batch of an epoch may be smaller."""
    train = side(config, held_out=False)
    count = -(-len(train) // config.batch_size)
    while True:
        epoch, within = divmod(begin, count)
        order = torch.randperm(len(train), generator=generator(config.seed, f"epoch {epoch}"))
        for step in range(within, count):
            yield train[order[step * config.batch_size : (step + 1) * config.batch_size]]
        begin = (epoch + 1) * count


def side(config: TrainingConfig, *, held_out: bool) -> Examples:
    """The examples of a fixed set that are trained on, or those that are not."""
    return _side(config.task, held_out)


@cache
def _side(name: str, held_out: bool) -> Examples:
    task = TASKS[name]
    assert task.examples
    every = task.examples()
    return every[(task.split(every.source) == held_out).nonzero()[:, 0]]


def probes(config: TrainingConfig) -> Examples:
    """The held-out examples whose attention is kept at each snapshot."""
    return held_out(config, EVALUATED)[:PROBES]


def held_out_count(config: TrainingConfig, most: int) -> int:
    """How many held-out examples there are, `most` at most: a fixed set may have fewer."""
    return min(most, len(side(config, held_out=True))) if config.about.examples else most


def held_out(config: TrainingConfig, count: int, *, length: int = 0, purpose: str = "held out") -> Examples:
    """Examples that no run ever trains on, the same for all seeds.

    Args:
        config: whose task it is.
        count: how many; a fixed set may have fewer.
        length: of the sequences; the task's own by default.
        purpose: the name of the draw: another name draws others.
    """
    if config.about.examples:
        return side(config, held_out=True)[:count]
    return draw(config.about, generator(0, f"{config.task} {purpose}"), count, held_out=True, length=length)
