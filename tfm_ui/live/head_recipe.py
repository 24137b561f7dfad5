"""The recipe for the weights of one head, for all lenses that show weights as the model computed them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording


def weights(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, head: int
) -> Tensor:
    """The weights that the picture shows, (query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        model(*inputs, mask=mask)
    weights = trace[site][0, head]  # (query, key)
    return weights
