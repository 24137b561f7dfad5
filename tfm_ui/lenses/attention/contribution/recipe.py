"""What a head writes, without the app."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import MultiHeadAttention, Transformer, TransformerConfig, recording
from tfm_core.study.contribution import contribution_norms


def norms(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, module: str, head: int
) -> tuple[Tensor, Tensor]:
    """The weights of this head, and the lengths of the contributions, (query, key) both."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording() as trace:
        model(*inputs, mask=mask)
    weights = trace[f"{site}.weights"][0, head]  # (query, key)
    value = trace[f"{site}.value"][0, head]  # (key, head_dim)
    attention = model.get_submodule(module)
    assert isinstance(attention, MultiHeadAttention)
    columns = slice(head * value.shape[-1], (head + 1) * value.shape[-1])  # of this head
    output_weight = attention.output_projection.weight.detach()[:, columns].mT  # (head_dim, d_model)
    norms = contribution_norms(weights, value, output_weight)  # (query, key)
    return weights, norms
