"""The run of a link with its baselines and the run beside it."""

from dataclasses import replace

from tfm_ui.lenses.training.classify.numbers import Classified
from tfm_ui.lenses.training.classify.said import BESIDE, baselines
from tfm_ui.lenses.training.runs import config_of, run_of
from tfm_ui.lenses.training.state import TrainingState


def classified(state: TrainingState) -> Classified:
    """What there is of the run, and of the run with which it makes a pair."""
    config = config_of(state)
    beside = BESIDE.get(config.task)
    other = run_of(replace(config, task=beside)) if beside else None
    return Classified(config, run_of(config), baselines(config), other)
