"""One block, from x to the sum: its norm, its sub-layer, dropout and residual connection, number by number.

Pre-norm: x + dropout(f(norm(x))); post-norm: norm(x + dropout(f(x))), where f is the sub-layer.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from tfm_core import TransformerConfig

ROUNDING = 1e-4  # how far float32 may be off, as a share of the largest number


class Normed(NamedTuple):
    """A layer norm, step by step: Ba et al. 2016, equations 3 and 4.

    Attributes:
        mean, variance: (token, 1).
        normalised: (token, dimension), (x - mean) / sqrt(variance + epsilon).
        result: (token, dimension), normalised * gain + shift.
    """

    mean: Tensor
    variance: Tensor
    normalised: Tensor
    result: Tensor


@dataclass(frozen=True)
class Chain:
    """A block's numbers, float32 (token, dimension), padding included.

    Attributes:
        config: the model's.
        site: how the block's sites begin in a recording, such as "layers.0.self_attention".
        x: what flows in.
        output: what the sub-layer writes.
        factors: what dropout multiplies each number of `output` by; 1 in evaluation mode.
        total: x + output * factors.
        norm: the norm of x in pre-norm, of `total` in post-norm.
        after: what the pass recorded after the block, without dropout.
        gain, shift: (dimension), of the norm.
        eps: epsilon of the norm.
        inner: (token, inner), what the sub-layer's last linear map reads: all heads, or the hidden units.
        weight, bias: (dimension, inner) and (dimension), of that map.
    """

    config: TransformerConfig
    site: str
    x: Tensor
    output: Tensor
    factors: Tensor
    total: Tensor
    norm: Normed
    after: Tensor
    gain: Tensor
    shift: Tensor
    eps: float
    inner: Tensor
    weight: Tensor
    bias: Tensor

    @property
    def pre_norm(self) -> bool:
        """Whether the norm stands before the sub-layer."""
        return self.config.norm == "pre"

    @property
    def dropped(self) -> Tensor:
        """What is added to x."""
        return self.output * self.factors

    @property
    def into_norm(self) -> Tensor:
        """What the norm reads."""
        return self.x if self.pre_norm else self.total

    @property
    def out(self) -> Tensor:
        """What leaves the block."""
        return self.total if self.pre_norm else self.norm.result


def layer_norm(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Normed:
    """The norm of each token, (token, dimension) -> its steps."""
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    normalised = (x - mean) / torch.sqrt(variance + eps)
    return Normed(mean, variance, normalised, normalised * gain + shift)


def dropout_factors(like: Tensor, share: float, draw: int) -> Tensor:
    """What dropout in training multiplies each number by: 0 with the probability `share`, otherwise 1 / (1 - share).

    It is the draw that nn.Dropout makes after `torch.manual_seed(draw)`, from a generator of its own: the global one
    belongs to all threads.
    """
    kept = torch.empty_like(like).bernoulli_(1 - share, generator=torch.Generator().manual_seed(draw))
    return kept / (1 - share)
