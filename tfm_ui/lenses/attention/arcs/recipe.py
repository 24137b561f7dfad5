"""What several heads, or several layers, look at together, without the app."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import Trace, Transformer, TransformerConfig, recording
from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads


def all_weights(config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None) -> Trace:
    """The weights of every attention in one pass of the model: name -> (batch, head, query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        model(*inputs, mask=mask)
    return trace


def mean(*, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str) -> Tensor:
    """The mean over the heads of a layer, (query, key)."""
    weights = mean_over_heads(all_weights(config, inputs, mask)[site][0])  # (query, key)
    return weights


def largest(*, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str) -> Tensor:
    """The largest weight that any head of a layer has there, (query, key)."""
    weights = max_over_heads(all_weights(config, inputs, mask)[site][0])  # (query, key)
    return weights


def rollout(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> Tensor:
    """The rollout through these layers, (query, key)."""
    trace = all_weights(config, inputs, mask)
    weights = attention_rollout(trace[site][0] for site in sites)  # (query, key)
    return weights
