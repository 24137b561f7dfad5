"""Trained weights by the name of their run: where a model finds them, without knowing who trained it."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

RANDOM = "random"  # the name of the weights that are drawn from a seed
Source = Callable[[str], Mapping[str, Tensor] | None]

_sources: list[Source] = []


def add_source(source: Source) -> None:
    """Let models find weights in one more place.

    Args:
        source: the name of a run -> its parameters by name, or None if it is not there.
    """
    _sources.append(source)


def trained_weights(name: str) -> Mapping[str, Tensor]:
    """The weights of a run.

    Raises:
        ValueError: if no source has it.
    """
    for source in _sources:
        if (weights := source(name)) is not None:
            return weights
    raise ValueError(
        f"weights: expected {RANDOM!r} or the name of a run that has been trained here; got {name!r}. "
        f"Train it: python -m tfm_core.training {name}"
    )


@torch.no_grad()
def put_trained(model: nn.Module, name: str) -> None:
    """Give a model's parameters the values that a run has come to, in place.

    What the run does not have, by name and shape, stays as it was drawn: so a trained model can be tried with another
    positional scheme, which it has then never seen. `untrained` names these parameters.
    """
    weights = trained_weights(name)
    for path, parameter in model.named_parameters():
        if path in weights and weights[path].shape == parameter.shape:
            parameter.copy_(weights[path])


def untrained(model: nn.Module, name: str) -> list[str]:
    """The parameters of a model that a run does not have, so that they are random."""
    weights = trained_weights(name)
    return [
        path
        for path, parameter in model.named_parameters()
        if path not in weights or weights[path].shape != parameter.shape
    ]
