"""Comparing networks as heavy work of the app's worker: trains all contestants with all seeds, and reports."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from tfm_core.training.comparison import Comparison, Entry, outcome_of
from tfm_core.training.config import TrainingConfig
from tfm_core.training.contestants import SEEDS, contestants, size
from tfm_core.training.lengths import by_length, guessing, lengths_of
from tfm_core.training.run import Run
from tfm_core.training.train import train


@dataclass(frozen=True)
class ComparisonStep:
    """A step of the job: how far it is, and what there is by now.

    Attributes:
        share: of the steps of all runs, 0 to 1.
        seconds_left: an estimate.
        doing: in words.
        comparison: of the runs that have ended.
    """

    share: float
    seconds_left: float
    doing: str
    comparison: Comparison


def compare(task: str) -> Iterator[ComparisonStep]:
    """Train all contestants of a task with all seeds. Closing the generator stops it.

    Args:
        task: a key of `TASKS`.

    Raises:
        Unmatched: if no networks of the task can be compared.
    """
    yield from compare_all(contestants(task), SEEDS)


def compare_all(configs: tuple[TrainingConfig, ...], seeds: tuple[int, ...]) -> Iterator[ComparisonStep]:
    """Train these with each seed; all with the first seed first.

    Args:
        configs: of one task; the first is what the others are changed from.
        seeds: how often.
    """
    began, comparison = time.perf_counter(), _nothing(configs, seeds)
    count, done = len(configs) * len(seeds), 0
    for seed in seeds:
        for place, config in enumerate(configs):
            run: Run | None = None
            for progress in train(replace(config, seed=seed)):
                run, share = progress.run, (done + progress.share) / count
                if progress.share < 1:
                    seconds_left = (time.perf_counter() - began) * (1 / share - 1)
                    yield ComparisonStep(
                        share, seconds_left, f"run {done + 1} of {count}, {progress.doing}", comparison
                    )
            assert run
            done, comparison = done + 1, _with(comparison, place, run)
    yield ComparisonStep(1.0, 0.0, "done", comparison)


def _nothing(configs: tuple[TrainingConfig, ...], seeds: tuple[int, ...]) -> Comparison:
    return Comparison(
        task=configs[0].task,
        entries=tuple(Entry(config, size(config), ()) for config in configs),
        lengths=lengths_of(configs[0]),
        guessing=guessing(configs[0]),
        seeds=seeds,
        made_with=f"torch {torch.__version__}",
    )


def _with(comparison: Comparison, place: int, run: Run) -> Comparison:
    entries = list(comparison.entries)
    outcome = outcome_of(run, by_length(run))
    entries[place] = replace(entries[place], outcomes=(*entries[place].outcomes, outcome))
    return replace(comparison, entries=tuple(entries))
