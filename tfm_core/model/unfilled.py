"""What models on the meta device are built of fast, where parameters have no numbers yet: modules, and copies of them.

torch's own classes spend half of the time of building such a model on drawing no numbers.
"""

from collections.abc import Callable
from typing import TypeVar

from torch import nn

M = TypeVar("M", bound=nn.Module)


class Linear(nn.Linear):
    """Torch's, with torch's first values everywhere but on the meta device."""

    def reset_parameters(self) -> None:
        """Draw the first values."""
        if not self.weight.is_meta:
            super().reset_parameters()


class LayerNorm(nn.LayerNorm):
    """Torch's, with torch's first values everywhere but on the meta device."""

    def reset_parameters(self) -> None:
        """Start as the identity."""
        if not self.weight.is_meta:
            super().reset_parameters()


def copied(module: M, changed: Callable[[nn.Parameter], nn.Parameter] = lambda parameter: parameter) -> M:
    """A module with the same parts and settings; `copy.deepcopy` takes ten times as long.

    Args:
        module: stays as it is.
        changed: a parameter -> the one in its place; by default the same object.
    """
    twin = module.__new__(type(module))
    # Parameters, parts and hooks are in containers, of which each module has its own.
    vars(twin).update(
        {name: value.copy() if isinstance(value, dict | set) else value for name, value in vars(module).items()}
    )
    twin._parameters.update(
        {name: each if each is None else changed(each) for name, each in module._parameters.items()}
    )
    twin._modules.update({name: child and copied(child, changed) for name, child in module._modules.items()})
    return twin
