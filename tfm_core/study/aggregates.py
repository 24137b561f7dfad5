"""Many heads as one picture: aggregates of attention weights, each a formula of the literature.

No head attends as an aggregate shows it, and none of them explains a model's decision.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, eye


def mean_over_heads(weights: Tensor) -> Tensor:
    """(1/H) sum over heads of w: (..., head, query, key) to (..., query, key). Rows keep their sum, 1."""
    return weights.mean(-3)


def max_over_heads(weights: Tensor) -> Tensor:
    """The largest weight of any head: (..., head, query, key) to (..., query, key). Rows sum to 1 or more."""
    return weights.amax(-3)


def attention_rollout(layers: Iterable[Tensor]) -> Tensor:
    """How much of each input token reaches each place, if heads were alike and only attention and residuals mixed.

    R = A_L ... A_2 A_1 with A_l = (W_l + I) / 2, W_l the mean over the heads of layer l: Abnar & Zuidema (2020),
    "Quantifying Attention Flow in Transformers", equations 1 and 2. The 1/2 is the residual connection's share. Rows
    of A_l are scaled to sum to 1 again: a query that may see nothing keeps itself alone.

    Args:
        layers: weights of each layer's self-attention, (..., head, query, key) with as many keys as queries; the first
            layer first. One is looked at a time, so they may come from a generator.

    Returns:
        (..., query, key); rows sum to 1.

    Raises:
        ValueError: if a layer's weights are not square, or there is no layer.

    Examples:
        >>> import torch
        >>> from tfm_core import attention_rollout
        >>> layers = [torch.full((2, 3, 3), 1 / 3)] * 2  # two layers with two heads, who look everywhere
        >>> rollout = attention_rollout(layers)
        >>> rollout.shape, rollout.sum(-1).round(decimals=4).tolist()
        (torch.Size([3, 3]), [1.0, 1.0, 1.0])
    """
    rollout: Tensor | None = None
    for weights in layers:
        if weights.shape[-1] != weights.shape[-2]:
            raise ValueError(f"expected self-attention, as many keys as queries; got weights {tuple(weights.shape)}")
        mixed = mean_over_heads(weights) + eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
        mixed = mixed / mixed.sum(-1, keepdim=True)
        rollout = mixed if rollout is None else torch.matmul(mixed, rollout)
    if rollout is None:
        raise ValueError("expected the weights of at least one layer, got none")
    return rollout
