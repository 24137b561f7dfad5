"""The experiment on scaling, without the app."""

from collections.abc import Sequence

from tfm_core import ScaleExperiment, scale_experiment


def measure(*, widths: Sequence[int], draws: int, keys: int, seed: int) -> ScaleExperiment:
    """Variance, entropy and gradients at each width."""
    measured = scale_experiment(widths, draws=draws, keys=keys, seed=seed)
    return measured
