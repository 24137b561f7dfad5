"""Who is compared with whom: networks of about the same size, on the same examples, for the same number of steps."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfm_core.model.kind import NORMS
from tfm_core.positional.schemes import POSITIONAL
from tfm_core.training.config import BOUNDS, TrainingConfig, of_task
from tfm_core.training.networks import RECURRENT, network, parameters

TOLERANCE = 0.05  # by how much the numbers of parameters may differ, as a share
SEEDS = (0, 1, 2)
RATES = (0.003, 0.01, 0.03)  # learning rates that are tried for recurrent networks; the best one counts
LAYERS, HEADS = (1, 2), (1, 2, 4)
WIDER = 4  # by which d_model grows until all can be matched; every number of heads divides it
WIDEST = 64


class Unmatched(ValueError):
    """No network of the kind that was asked for has about as many parameters; the message says how near one comes."""


@lru_cache(4096)
def size(config: TrainingConfig) -> int:
    """How many parameters are trained."""
    return parameters(network(config))


def difference(config: TrainingConfig, other: TrainingConfig) -> float:
    """How many more parameters the second has than the first, as a share of the first's; below 0 if it has fewer."""
    return size(other) / size(config) - 1


def matched(config: TrainingConfig, **changes: Any) -> TrainingConfig:
    """This run with changes, so wide that it has about as many parameters as without them.

    Args:
        config: what it is compared with.
        changes: fields of it, such as network="lstm" or num_layers=2.

    Raises:
        Unmatched: if the nearest differs by more than `TOLERANCE`.
        ValueError: as `TrainingConfig`.
    """
    fitting = list(_of_all_widths(config, changes))
    if not fitting:
        raise Unmatched(f"{_named(changes)}: expected a width at which it exists, got none")
    place = bisect_left(fitting, size(config), key=size)
    nearest = min(fitting[max(0, place - 1) : place + 1], key=lambda other: abs(difference(config, other)))
    if abs(difference(config, nearest)) > TOLERANCE:
        raise Unmatched(
            f"{_named(changes)}: expected {size(config)} parameters within {TOLERANCE:.0%}, got {size(nearest)} with "
            f"d_model = {nearest.d_model}, the nearest"
        )
    return nearest


def budget(task: str) -> TrainingConfig:
    """The transformer with which all others are compared.

    It is the task's own, or the narrowest that is wider and with which all others can be matched.

    Raises:
        Unmatched: if there is none.
    """
    config = of_task(task)
    problem = Unmatched(f"d_model: expected at most {WIDEST}, got {config.d_model}")
    for width in range(config.d_model, WIDEST + 1, WIDER):
        try:
            config = replace(config, d_model=width)
            list(_others(config))
        except Unmatched as reason:
            problem = reason
        else:
            return config
    raise problem


@lru_cache
def contestants(task: str) -> tuple[TrainingConfig, ...]:
    """All that are compared, at the first seed, the transformer of `budget` first.

    One thing differs from it in each: the positional scheme, the norm, the number of layers or of heads, or the whole
    network; and the width, where that is needed to have as many parameters. Learning rates: the task's own for
    transformers, all `RATES` for recurrent networks.
    """
    config = budget(task)
    return config, *_others(config)


def _others(config: TrainingConfig) -> Iterator[TrainingConfig]:
    for scheme in POSITIONAL:
        if scheme != config.positional:
            yield matched(config, positional=scheme)
    for norm in NORMS:
        if norm != config.norm:
            yield matched(config, norm=norm)
    for layers in LAYERS:
        if layers != config.num_layers:
            yield matched(config, num_layers=layers)
    for heads in HEADS:
        if heads != config.num_heads:
            yield replace(config, num_heads=heads)  # the matrices stay as they are: heads share them out
    if config.about.architecture != "encoder-decoder":
        for kind in RECURRENT:
            fitting = _recurrent(config, kind)
            for rate in RATES:
                yield replace(fitting, learning_rate=rate)


def _recurrent(config: TrainingConfig, kind: str) -> TrainingConfig:
    """A recurrent network with one layer where that can have as many parameters, else with two."""
    few, many = LAYERS
    try:
        return matched(config, network=kind, num_heads=1, num_layers=few)
    except Unmatched:
        return matched(config, network=kind, num_heads=1, num_layers=many)


def _of_all_widths(config: TrainingConfig, changes: dict[str, Any]) -> Iterator[TrainingConfig]:
    low, high = (int(end) for end in BOUNDS["d_model"])
    for width in range(low, high + 1):
        try:
            other = replace(config, **{**changes, "d_model": width})
        except ValueError:
            if width == high:
                raise
            continue
        if other.network == "transformer" or other.about.architecture == "decoder" or width % 2 == 0:
            yield other  # half of a recurrent network's width reads from each end, where both directions are seen


def _named(changes: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in changes.items())
