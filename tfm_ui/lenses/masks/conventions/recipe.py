"""What each convention's call makes of the batch's mask, without the app."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import MultiHeadAttention, Transformer, TransformerConfig, recording
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mask_verified import Verified, verify


def verified_calls(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor,
    argument: str,
    mask_site: str,
    query_site: str,
    key_site: str,
    attention_path: str,
    conventions: Sequence[str],
) -> dict[str, Verified]:
    """What was measured of each call: by convention."""
    model = Transformer(config).eval()
    exactly = {mask_site: lambda automatic: mask[:, None].expand_as(automatic)}  # in place of what the model hides
    with torch.no_grad(), recording([query_site, key_site], exactly) as trace:
        model(*inputs, **{argument: mask[:, None]})
    query, key, attention = trace[query_site], trace[key_site], model.get_submodule(attention_path)
    assert isinstance(attention, MultiHeadAttention)
    with torch.no_grad():
        verified = {name: verify(CONVENTIONS[name], attention, query, key, mask) for name in conventions}
    return verified
