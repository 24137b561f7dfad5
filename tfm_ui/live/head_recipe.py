"""The recipe for the weights of one head, for all lenses that show weights as the model computed them."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

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


def attention(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    sites: Sequence[str],
    place: str,
    head: int,
) -> tuple[Mapping[str, Tensor], nn.Module, nn.Module]:
    """What one attention reads and computes, by its site in the recording; its module, and its norm."""
    model = Transformer(config).eval().requires_grad_(False)
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    attention, norm = model.get_submodule(place), model.get_submodule(f"{place}_norm")
    return trace, attention, norm
