"""Weights by name: each parameter is drawn from (seed, its name), and from nothing else.

So the same configuration gives the same weights on any thread and in any order of building, torch's global
random state is neither read nor moved, and two configurations that differ in the positional scheme or in the
number of layers share every weight that they have in common.

What is drawn is chosen so that an untrained model's attention is worth looking at. Uniform draws of these
standard deviations (uniform, because torch makes those bit for bit alike on every processor):

- embeddings: 1 / sqrt(d_model), which the model's factor sqrt(d_model) lifts to 1, in balance with the
  sinusoids' sqrt(1/2). Torch's own default of 1 would come out sqrt(d_model) times too loud, and the first
  layer of a post-norm model would attend to one key alone.
- linear maps: 1 / sqrt(inputs), which keeps the size of what passes through (LeCun et al. 1998), with no bias;
- query and key projections: `QUERY_KEY_GAIN` times that. Scores of random queries and keys then spread with a
  standard deviation of about QUERY_KEY_GAIN^2, between the two dull extremes: nearly equal weights on all keys,
  and all the weight on one.
- layer norms start as identity, positional tables with the spread that their class names.

Models that are kept side by side can share what they have in common: `SharedParameters`.
"""

import hashlib
import math
from threading import Lock
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn

from tfm_core.positional.schemes import Positional

QUERY_KEY_GAIN = 1.3


def generator(seed: int, name: str) -> torch.Generator:
    """Random numbers that depend on the seed and on the name of their purpose, and on nothing else."""
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little", signed=True))


def draw(seed: int, name: str, shape: tuple[int, ...], std: float) -> Tensor:
    """Uniform numbers of mean 0 and the given standard deviation, float32, a pure function of its arguments."""
    return torch.rand(shape, generator=generator(seed, name)).mul_(2).sub_(1).mul_(std * math.sqrt(3))


class SharedParameters:
    """Drawn parameters for several models: what two of them have in common is one object, drawn once.

    So a model with other heads, another mask or another positional scheme takes no memory for it, and no time. In
    return, nobody may change these parameters, or train them. They are kept as long as a model uses them, no longer.
    Threads may build models at the same time.
    """

    def __init__(self) -> None:
        self._kept: WeakValueDictionary[tuple[object, ...], nn.Parameter] = WeakValueDictionary()
        self._lock = Lock()

    def drawn(self, seed: int, name: str, like: nn.Parameter, std: float, device: torch.device) -> nn.Parameter:
        """The parameter on this device with what `draw` gives, of the shape and dtype of another parameter."""
        key = seed, name, tuple(like.shape), std, like.dtype, device
        with self._lock:
            parameter = self._kept.get(key)
            if parameter is None:
                parameter = nn.Parameter(draw(seed, name, tuple(like.shape), std).to(device, like.dtype))
                self._kept[key] = parameter
        return parameter


@torch.no_grad()
def fill_parameters(
    model: nn.Module,
    seed: int,
    device: torch.device | None = None,
    shared: SharedParameters | None = None,
    *,
    missing: bool = False,
) -> None:
    """Give every parameter of a model its first value.

    Args:
        model: its parameters are filled in place; those on the meta device, which have no memory, are replaced.
        seed: of what is drawn.
        device: where parameters take the place of those on the meta device, which stay as they are if it is None. If
            it is the meta device itself, those in their place have no numbers either.
        shared: if given, drawn parameters that take a place come from here.
        missing: fill only those on the meta device, as the others have their values.
    """
    filled: dict[int, nn.Parameter] = {}  # tied parameters have two names: the first one counts
    for path, module in model.named_modules():
        for leaf, parameter in module._parameters.items():
            if parameter is None or (device is None if parameter.is_meta else missing):
                continue
            if id(parameter) not in filled:
                filled[id(parameter)] = _filled(parameter, module, f"{path}.{leaf}", seed, device, shared)
            module._parameters[leaf] = filled[id(parameter)]  # `setattr` takes ten times as long


def _filled(
    parameter: nn.Parameter,
    module: nn.Module,
    name: str,
    seed: int,
    device: torch.device | None,
    shared: SharedParameters | None,
) -> nn.Parameter:
    if parameter.is_meta and device and device.type == "meta":
        # Of a shape, as `empty_like` on this device imports sympy: 38 MB, in each process.
        return nn.Parameter(torch.empty(parameter.shape, dtype=parameter.dtype, device=device))
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        value = torch.full(parameter.shape, 1.0 if name.endswith(".weight") else 0.0)
    elif name.endswith(".bias"):
        value = torch.zeros(parameter.shape)
    else:
        std = _std(parameter, module, name)
        if shared and device and parameter.is_meta:
            return shared.drawn(seed, name, parameter, std, device)
        value = draw(seed, name, tuple(parameter.shape), std)
    if parameter.is_meta:
        return nn.Parameter(value.to(device, parameter.dtype))
    parameter.copy_(value)
    return parameter


def _std(parameter: nn.Parameter, module: nn.Module, name: str) -> float:
    if isinstance(module, Positional):
        return module.tables[name.rpartition(".")[2]].std
    loud = name.endswith((".query_projection.weight", ".key_projection.weight"))
    return (QUERY_KEY_GAIN if loud else 1.0) / math.sqrt(math.prod(parameter.shape[1:] or parameter.shape))
