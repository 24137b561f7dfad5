"""What models on the meta device are built of fast, where parameters have no numbers yet: modules, and copies of them.

torch's own classes spend half of the time of building such a model on drawing no numbers.
"""

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


def copied(module: M) -> M:
    """A module with the same parts and settings. Parameters are the same objects, until others are put in their place.

    `copy.deepcopy` copies them, too, and takes ten times as long.
    """
    twin = module.__new__(type(module))
    # Parameters, parts and hooks are in containers, of which each module has its own.
    vars(twin).update(
        {name: value.copy() if isinstance(value, dict | set) else value for name, value in vars(module).items()}
    )
    twin._modules.update({name: child and copied(child) for name, child in module._modules.items()})
    return twin
