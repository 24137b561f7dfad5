"""The mask and the weights under it, and how the pairs that it keeps grow with the text, without the app."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording


def weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor,
    argument: str,
    mask_site: str,
    site: str,
    head: int,
) -> tuple[Tensor, Tensor]:
    """The mask, and the weights of one head under exactly this mask; both (query, key)."""
    model = Transformer(config).eval()
    exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}  # in place of what the model hides by itself
    with torch.no_grad(), recording(site, exactly) as trace:
        model(*inputs, **{argument: mask})
    weights = trace[site][0, head]  # (query, key)
    return mask, weights


def pairs_kept(*, composed: Callable[[Tensor, Tensor, int, int], Tensor], lengths: Sequence[int]) -> dict[int, int]:
    """How many pairs the mask keeps of texts of these lengths."""
    kept = {}
    for length in lengths:
        tokens = torch.ones(1, length, dtype=torch.long)  # words: no padding
        mask = composed(tokens, tokens, length, length)
        kept[length] = int(mask.sum())
    return kept
