"""Linear maps and layer norms of which a model on the meta device can be built fast.

There they have no numbers, and torch's own classes spend half of the time of building a model on drawing none.
"""

from torch import nn


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
