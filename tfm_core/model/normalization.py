"""The norms that a transformer can have before or after its sub-layers.

To add one, enter its class in `NORMALIZATIONS`. It is called with the width d_model and `eps`, and has `weight`, and
`bias`, which is None where it shifts nothing.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from tfm_core.model.unfilled import LayerNorm


class RMSNorm(nn.RMSNorm):
    """x / sqrt(mean(x²) + eps) * weight: no mean is taken away, and nothing is added. Zhang and Sennrich 2019.

    torch's, with torch's first values everywhere but on the meta device.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps=eps)
        self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Start with a weight of 1."""
        if not self.weight.is_meta:
            super().reset_parameters()


Norm = nn.LayerNorm | nn.RMSNorm

NORMALIZATIONS: dict[str, type[LayerNorm] | type[RMSNorm]] = {"layer": LayerNorm, "rms": RMSNorm}


class NormSteps(NamedTuple):
    """What a norm does, step by step: (x - center) / spread * gain + shift.

    Attributes:
        center: (..., 1), the mean of x; 0 in RMS norms.
        spread: (..., 1), sqrt(variance + eps); in RMS norms sqrt(mean square + eps).
        gain: (d_model).
        shift: (d_model); 0 in RMS norms.
    """

    center: Tensor
    spread: Tensor
    gain: Tensor
    shift: Tensor


def norm_steps(norm: nn.Module, x: Tensor) -> NormSteps:
    """The steps of a norm of vectors x, (..., d_model), without gradients.

    Raises:
        ValueError: for a module that is neither a layer norm nor an RMS norm.
    """
    if isinstance(norm, nn.RMSNorm):
        spread = (x.square().mean(-1, keepdim=True) + (norm.eps or 0.0)).sqrt()
        gain = norm.weight.detach().to(x)
        return NormSteps(torch.zeros_like(spread), spread, gain, torch.zeros_like(gain))
    if not isinstance(norm, nn.LayerNorm):
        raise ValueError(f"expected a layer norm or an RMS norm, got {type(norm).__name__}")
    spread = (x.var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    return NormSteps(x.mean(-1, keepdim=True), spread, norm.weight.detach().to(x), norm.bias.detach().to(x))
