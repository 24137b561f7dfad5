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

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Wiring:
    """What stands around a sub-layer.

    Attributes:
        norm_before: whether it reads what its norm makes of x, and not x itself.
        adds: whether its output is added to x, and does not replace it.
        norm_after: whether its norm acts on what comes out.
    """

    norm_before: bool
    adds: bool
    norm_after: bool

    def read(self, x: Tensor, norm: Function) -> Tensor:
        """What the sub-layer reads of x."""
        return norm(x) if self.norm_before else x

    def write(self, x: Tensor, output: Tensor, norm: Function) -> Tensor:
        """The residual stream after the sub-layer: x and its output, joined and normalised as wired."""
        x = x + output if self.adds else output
        return norm(x) if self.norm_after else x


WIRINGS = {
    "pre-norm": Wiring(norm_before=True, adds=True, norm_after=False),
    "post-norm": Wiring(norm_before=False, adds=True, norm_after=True),
    "no residuals": Wiring(norm_before=True, adds=False, norm_after=False),
    "no norm": Wiring(norm_before=False, adds=True, norm_after=False),
}


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


def signals_by_depth(
    layers: Sequence[TransformerLayer],
    x: Tensor,
    wirings: Sequence[str] = tuple(WIRINGS),
    *,
    mask: Tensor | None = None,
    positional: Positional | None = None,
    seed: int = 0,
) -> dict[str, DepthSignal]:
    """Send vectors up through the layers, and the gradient back down, with each wiring.

    Args:
        layers: without cross-attention; their own norm, pre or post, has no effect.
        x: (batch, seq, d_model), what goes in.
        wirings: keys of `WIRINGS`.
        mask: of the self-attention, as in `MultiHeadAttention`; without an axis for the batch.
        positional: a scheme that acts inside the attention, likewise.
        seed: of the random vectors at the end.

    Raises:
        ValueError: for an unknown wiring, or layers of a decoder that looks across.
    """
    _check(layers, wirings)
    wired = [WIRINGS[name] for name in wirings]

    def pass_through(streams: list[Tensor], sub_layer: Function, norm: Function) -> list[Tensor]:
        # What the sub-layer reads under each wiring is one batch: it is called once for all of them.
        read = torch.cat([wiring.read(x, norm) for wiring, x in zip(wired, streams, strict=True)])
        outputs = sub_layer(read).chunk(len(wired))
        return [wiring.write(x, y, norm) for wiring, x, y in zip(wired, streams, outputs, strict=True)]

    with torch.enable_grad():
        reached = [[x.detach().requires_grad_() for _ in wired]]  # before the first layer and after each, by wiring
        for layer in layers:
            attention = partial(layer.self_attention, mask=mask, positional=positional)
            between = pass_through(reached[-1], attention, layer.self_attention_norm)
            reached.append(pass_through(between, layer.feed_forward, layer.feed_forward_norm))
        probe = draw(seed, "probe", tuple(x.shape), std=1.0).to(x)
        at_the_end = [(end * probe).sum() for end in reached[-1]]
        streams = list(zip(*reached, strict=True))
        gradients = torch.autograd.grad(at_the_end, [each for stream in streams for each in stream])
    signals = {}
    for name, stream, back in zip(wirings, streams, torch.stack(gradients).chunk(len(wired)), strict=True):
        vectors = torch.stack(stream).detach()
        signals[name] = DepthSignal(vectors.norm(dim=-1), back.norm(dim=-1), mean_cosine(vectors))
    return signals


def parameter_gradients(
    layers: Sequence[TransformerLayer],
    x: Tensor,
    wirings: Sequence[str] = tuple(WIRINGS),
    *,
    mask: Tensor | None = None,
    positional: Positional | None = None,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Send the gradient back down and measure it at parameters: at each layer's last matrix, with each wiring.

    That is what theorem 1 of Xiong et al. 2020 bounds for the last layer. A wiring whose layers do not end in a norm
    gets a final one, as there, and what is differentiated is the product of what comes out with random vectors.

    Args:
        layers: as in `signals_by_depth`, like all the others.
        x: (batch, seq, d_model), what goes in.
        wirings: keys of `WIRINGS`.
        mask: of the self-attention.
        positional: a scheme that acts inside the attention.
        seed: of the random vectors at the end.

    Returns:
        Wiring -> (layers,), the Frobenius norm of the gradient of each layer's `feed_forward.output_projection.weight`.

    Raises:
        ValueError: as in `signals_by_depth`.
    """
    _check(layers, wirings)
    probe = draw(seed, "probe", tuple(x.shape), std=1.0).to(x)
    return {name: _at_matrices(layers, x, WIRINGS[name], probe, mask, positional) for name in wirings}


def _at_matrices(
    layers: Sequence[TransformerLayer],
    x: Tensor,
    wiring: Wiring,
    probe: Tensor,
    mask: Tensor | None,
    positional: Positional | None,
) -> Tensor:
    ends: list[tuple[Tensor, Tensor]] = []  # what goes into a layer, and what comes out
    for layer in layers:
        with torch.enable_grad():
            start = (ends[-1][1] if ends else x).detach().requires_grad_()
            attention = layer.self_attention(
                wiring.read(start, layer.self_attention_norm), mask=mask, positional=positional
            )
            between = wiring.write(start, attention, layer.self_attention_norm)
            fed = layer.feed_forward(wiring.read(between, layer.feed_forward_norm))
            ends.append((start, wiring.write(between, fed, layer.feed_forward_norm)))
    back = probe
    if not wiring.norm_after:
        with torch.enable_grad():
            last = (ends[-1][1] if ends else x).detach().requires_grad_()
            normed = F.layer_norm(last, last.shape[-1:])
        (back,) = torch.autograd.grad(normed, last, probe)
    sizes = []
    for layer, (start, end) in zip(reversed(layers), reversed(ends), strict=True):  # one layer's gradients at a time
        back, matrix = torch.autograd.grad(end, (start, layer.feed_forward.output_projection.weight), back)
        sizes.append(matrix.norm())
    return torch.stack(sizes[::-1]) if sizes else x.new_zeros(0)


def _check(layers: Sequence[TransformerLayer], wirings: Sequence[str]) -> None:
    for name in wirings:
        check_choice("wiring", name, WIRINGS)
    if any(layer.looks_across for layer in layers):
        raise ValueError("expected layers without cross-attention, got layers that look at an encoder")


def mean_cosine(x: Tensor) -> Tensor:
    """(..., seq, d_model) -> (...): the mean cosine between the vectors of two different tokens; NaN for one token."""
    units = F.normalize(x, dim=-1)
    pairs = units.shape[-2] * (units.shape[-2] - 1)
    # The sum over all pairs is the square of the sum; each token's pair with itself is taken away again.
    return (units.sum(-2).square().sum(-1) - units.square().sum((-2, -1))) / pairs
