"""The soft dictionary's answer, without the app."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import scaled_dot_product_attention


def look_up(
    *, point: Sequence[float], keys: Sequence[Sequence[float]], values: Sequence[float], temperature: float
) -> tuple[Tensor, Tensor]:
    """The blended value, and the weights that blend it: (query, 1) and (query, key)."""
    query, key = (torch.tensor(points, dtype=torch.float64) for points in ([point], keys))
    value = torch.tensor(values, dtype=torch.float64)[:, None]
    scale = 1 / (math.sqrt(2) * temperature)
    answer, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    return answer, weights
