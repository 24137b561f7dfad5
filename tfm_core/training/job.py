"""Training as heavy work of the app's worker: goes on from what is kept, and reports."""

from collections.abc import Iterator

from tfm_core.training.config import TrainingConfig
from tfm_core.training.run import Progress
from tfm_core.training.store import run_store
from tfm_core.training.train import train


def train_on(config: TrainingConfig) -> Iterator[Progress]:
    """Train a run, from the longest beginning of it that is kept.

    Args:
        config: which run.
    """
    yield from train(config, run_store().beginning(config))
