"""Building a module without memory or random numbers, then drawing its weights."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from tfm_core.model.initialization import fill_parameters

Module = TypeVar("Module", bound=nn.Module)


def drawn(build: Callable[[], Module], seed: int) -> Module:
    """Make a module on torch's default device; on the meta device it stays without weights.

    Args:
        build: makes the module.
        seed: of its weights, which depend on this and on their names alone.
    """
    device = torch.get_default_device()
    with torch.device("meta"):
        module = build()
    if device.type != "meta":
        fill_parameters(module.to_empty(device=device), seed)
    return module
