"""Random parameters in a module for the time of a check, in place, and everything as it was afterwards."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter


def drawn(shape: tuple[int, ...], generator: torch.Generator, *, is_gain: bool) -> Tensor:
    """Numbers of a sensible spread: weights by the inputs that they sum over, gains around 1, biases around 0."""
    numbers = torch.randn(shape, generator=generator)
    if len(shape) < 2:
        return numbers * 0.3 + 1 if is_gain else numbers * 0.5
    return numbers * (1.2 / math.sqrt(min(shape[-2:])))


@contextmanager
def drawn_parameters(module: nn.Module, seed: int) -> Iterator[nn.Module]:
    """The module with parameters that a seed gives, in evaluation; parameters, buffers, modes and torch's random state
    are afterwards what they were.

    Zero biases and gains of 1, as modules have them at first, would hide mistakes.
    """
    generator = torch.Generator().manual_seed(seed)
    kept = {name: p.detach().clone() for name, p in module.named_parameters() if not _is_lazy(p)}
    buffers = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    modes = {name: part.training for name, part in module.named_modules()}
    grads = {name: p.grad for name, p in module.named_parameters()}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            module.eval()
            draw_into(module, generator)
            yield module
        finally:
            with torch.no_grad():
                for name, p in module.named_parameters():
                    if name in kept:
                        p.copy_(kept[name])
                    p.grad = grads.get(name)
                for name, buffer in module.named_buffers():
                    if name in buffers and buffers[name].shape == buffer.shape:
                        buffer.copy_(buffers[name])
            for name, part in module.named_modules():
                part.training = modes.get(name, part.training)


def draw_into(module: nn.Module, generator: torch.Generator) -> None:
    """Give every parameter random numbers; what has no shape yet stays."""
    with torch.no_grad():
        for p in module.parameters():
            if not _is_lazy(p) and p.is_floating_point():
                is_gain = bool((p.flatten()[:1] == 1).all()) and p.numel() > 0
                p.copy_(drawn(tuple(p.shape), generator, is_gain=is_gain))


def is_lazy(module: nn.Module) -> bool:
    """Whether a module has parameters that get their shape with the first pass."""
    return any(_is_lazy(p) for p in module.parameters())


def _is_lazy(p: Tensor) -> bool:
    return isinstance(p, UninitializedParameter)


def device_of(module: nn.Module) -> torch.device:
    """Where the module's parameters lie; the CPU if it has none."""
    return next((p.device for p in module.parameters()), torch.device("cpu"))


P = ParamSpec("P")
R = TypeVar("R")


def in_one_thread(check: Callable[P, R]) -> Callable[P, R]:
    """The check, computed by a single thread: its tensors are so small that several only wait for each other."""

    @wraps(check)
    def quick(*args: P.args, **keywords: P.kwargs) -> R:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return check(*args, **keywords)
        finally:
            torch.set_num_threads(threads)

    return quick
