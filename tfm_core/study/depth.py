"""What becomes of a signal, and of its gradient, on the way through many layers that are wired in one of four ways.

    pre-norm      x + f(norm(x))     Xiong et al. 2020
    post-norm     norm(x + f(x))     Vaswani et al. 2017, section 3.1
    no residuals  f(norm(x))
    no norm       x + f(x)

All four have the same weights: only the wiring differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.model.choices import check_choice
from tfm_core.model.initialization import draw
from tfm_core.model.layer import TransformerLayer
from tfm_core.positional.schemes import Positional

SubLayer = Callable[[Tensor], Tensor]
Wiring = Callable[[SubLayer, SubLayer, Tensor], Tensor]  # (sub-layer, its norm, x) -> the new x


@dataclass(frozen=True)
class DepthSignal:
    """Lengths of vectors, before the first layer and after each layer.

    Attributes:
        forward: (layers + 1, batch, seq), of each token's vector.
        backward: (layers + 1, batch, seq), of the gradient of one number at the end with respect to that vector. The
            number is the product of the last vectors with random ones, so that every direction counts alike.
        similarity: (layers + 1, batch), the mean cosine between the vectors of two different tokens; NaN for a single
            token, which has no other.
    """

    forward: Tensor
    backward: Tensor
    similarity: Tensor


def signal_by_depth(
    layers: Sequence[TransformerLayer],
    x: Tensor,
    wiring: str,
    *,
    mask: Tensor | None = None,
    positional: Positional | None = None,
    seed: int = 0,
) -> DepthSignal:
    """Send vectors up through the layers, and the gradient back down.

    Args:
        layers: without cross-attention; their own norm, pre or post, has no effect.
        x: (batch, seq, d_model), what goes in.
        wiring: a key of `WIRINGS`.
        mask: of the self-attention, as in `MultiHeadAttention`.
        positional: a scheme that acts inside the attention, likewise.
        seed: of the random vectors at the end.

    Raises:
        ValueError: for an unknown wiring, or layers of a decoder that looks across.
    """
    check_choice("wiring", wiring, WIRINGS)
    if any(layer.looks_across for layer in layers):
        raise ValueError("expected layers without cross-attention, got layers that look at an encoder")
    wire = WIRINGS[wiring]
    with torch.enable_grad():
        stream = [x.detach().requires_grad_()]
        for layer in layers:
            attention = partial(layer.self_attention, mask=mask, positional=positional)
            between = wire(attention, layer.self_attention_norm, stream[-1])
            stream.append(wire(layer.feed_forward, layer.feed_forward_norm, between))
        at_the_end = (stream[-1] * draw(seed, "probe", tuple(x.shape), std=1.0).to(x)).sum()
        gradients = torch.autograd.grad(at_the_end, stream)
    return DepthSignal(
        torch.stack([each.detach().norm(dim=-1) for each in stream]),
        torch.stack(gradients).norm(dim=-1),
        torch.stack([mean_cosine(each.detach()) for each in stream]),
    )


def mean_cosine(x: Tensor) -> Tensor:
    """(..., seq, d_model) -> (...): the mean cosine between the vectors of two different tokens; NaN for one token."""
    units = F.normalize(x, dim=-1)
    pairs = units.shape[-2] * (units.shape[-2] - 1)
    # The sum over all pairs is the square of the sum; each token's pair with itself is taken away again.
    return (units.sum(-2).square().sum(-1) - units.square().sum((-2, -1))) / pairs


WIRINGS: dict[str, Wiring] = {
    "pre-norm": lambda sub_layer, norm, x: x + sub_layer(norm(x)),
    "post-norm": lambda sub_layer, norm, x: norm(x + sub_layer(x)),
    "no residuals": lambda sub_layer, norm, x: sub_layer(norm(x)),
    "no norm": lambda sub_layer, norm, x: x + sub_layer(x),
}
