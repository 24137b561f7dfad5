"""Training in the worker process, which goes on from what all servers keep."""

from collections.abc import Iterator

from tfm_core.training import job
from tfm_core.training.config import TrainingConfig
from tfm_core.training.run import Progress
from tfm_ui.store.runs import connect


def train_on(config: TrainingConfig) -> Iterator[Progress]:
    """Train a run, from the longest beginning of it that is kept.

    Args:
        config: which run.
    """
    connect()
    yield from job.train_on(config)
