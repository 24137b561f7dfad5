"""Runs small enough to be trained by the dozen, and how two of them are compared: to the last digit."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import torch

from tfm_core.training.config import TrainingConfig, of_task
from tfm_core.training.folder import LIMIT, Folder
from tfm_core.training.run import Run
from tfm_core.training.store import RunStore
from tfm_core.training.train import train

WORDS = 5  # that a sentence about a problem has at least


def small(task="reverse", **changes) -> TrainingConfig:
    return of_task(task, **{"d_model": 8, "num_heads": 1, "num_layers": 1, "batch_size": 4, "steps": 9, **changes})


def to_the_end(config: TrainingConfig, begin: Run | None = None) -> Run:
    *_, last = train(config, begin)
    return last.run


@cache
def trained(task="reverse", **changes) -> Run:
    """The same for all tests of a worker, which only read it."""
    return to_the_end(small(task, **changes))


def of_seed(seed: int) -> Run:
    """A run with another seed in its name alone, for tests that keep runs and compute nothing with them."""
    return replace(trained(), config=small(seed=seed))


def same_numbers(run: Run, other: Run) -> None:
    """All but how long it took."""
    assert run.config == other.config
    assert (run.points, run.snapshots, run.problem) == (other.points, other.snapshots, other.problem)
    assert torch.equal(run.losses, other.losses)
    assert torch.equal(run.said, other.said)
    for group in ("maps", "weights", "optimizer"):
        left, right = getattr(run, group), getattr(other, group)
        assert left.keys() == right.keys()
        assert all(torch.equal(left[name], right[name]) for name in left), group


def opened(folder, limit=LIMIT) -> RunStore:
    return RunStore(Folder(folder, limit), shipped=Path("/no/such/folder"))


def names_in(folder) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
