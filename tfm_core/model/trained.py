"""Trained weights by the name of their run: where a model finds them, without knowing who trained it.

Nothing is registered when a module is imported: the rooms that have weights are asked once a model wants some.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

RANDOM = "random"  # the name of the weights that are drawn from a seed
Source = Callable[[str], Mapping[str, Tensor] | None]

# Modules above this one whose `source` has weights by name; they are imported when a model asks for such weights.
ROOMS = ("tfm_core.language.lab_gpt", "tfm_core.language.lab_bert", "tfm_core.training.store")
# Modules whose `source` has weights that are mapped from a file; `knows` tells their names without reading any.
MAPPED_ROOMS = ("tfm_core.pretrained.offered", "tfm_core.pretrained.registered")

_sources: list[Source] = []
_mapped: list[tuple[Source, Callable[[str], bool]]] = []
_mapped_at = set[int]()  # where mapped numbers lie: they stay there, as their sources keep them


def add_source(source: Source) -> None:
    """Let models find weights in one more place.

    Args:
        source: the name of a run -> its parameters by name, or None if it is not there.
    """
    _sources.append(source)


def add_mapped_source(source: Source, knows: Callable[[str], bool]) -> None:
    """Let models find weights that are mapped from a file, so that they use them as they are, and do not copy them.

    Args:
        source: a name -> the parameters by name, or None if they are not there.
        knows: whether there can be weights of this name; at once, without reading any.
    """
    _mapped.append((source, knows))


def names_a_file(name: str) -> bool:
    """Whether weights of this name would be mapped from a file."""
    return name != RANDOM and any(knows(name) for _, knows in _mapped_sources())


def mapped_weights(name: str) -> Mapping[str, Tensor] | None:
    """The weights of this name, if they are mapped from a file; None if they are not."""
    weights = next((weights for source, _ in _mapped_sources() if (weights := source(name)) is not None), None)
    if weights is not None:
        _mapped_at.update(value.untyped_storage().data_ptr() for value in weights.values())
    return weights


def is_mapped(tensor: Tensor) -> bool:
    """Whether a tensor's numbers are those of a file, of which all processes share one copy in memory."""
    return tensor.untyped_storage().data_ptr() in _mapped_at


def trained_weights(name: str) -> Mapping[str, Tensor]:
    """The weights of a run.

    Raises:
        ValueError: if no source has it.
    """
    for source in (*_all_sources(), *(mapped for mapped, _ in _mapped_sources())):
        if (weights := source(name)) is not None:
            return weights
    raise ValueError(
        f"weights: expected {RANDOM!r} or the name of a run that has been trained here; got {name!r}. "
        f"Train it: python -m tfm_core.training {name}"
    )


def _all_sources() -> Iterator[Source]:
    yield from (room.source for room in _imported(ROOMS))
    yield from _sources


def _mapped_sources() -> Iterator[tuple[Source, Callable[[str], bool]]]:
    yield from ((room.source, room.knows) for room in _imported(MAPPED_ROOMS))
    yield from _mapped


@cache
def _imported(rooms: tuple[str, ...]) -> tuple[Any, ...]:
    """These modules, without those that need a package which is not installed, as it is for them alone."""
    there = []
    for room in rooms:
        try:
            there.append(import_module(room))
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.startswith("tfm_core"):
                raise
    return tuple(there)


def put_in_place(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Make these values the model's parameters, without a copy, where names and shapes are the same.

    Raises:
        ValueError: for values of another dtype than float32, with which models here compute.
    """
    made: dict[int, nn.Parameter] = {}  # tied parameters have two names: the first one counts
    for path, module in model.named_modules():
        for leaf, parameter in module._parameters.items():
            name = f"{path}.{leaf}" if path else leaf
            if parameter is None or (id(parameter) not in made and name not in weights):
                continue
            if id(parameter) not in made:
                if weights[name].shape != parameter.shape:
                    continue
                if weights[name].dtype != torch.float32:
                    raise ValueError(f"{name}: expected float32, got {weights[name].dtype}")
                made[id(parameter)] = nn.Parameter(weights[name])
            module._parameters[leaf] = made[id(parameter)]


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
