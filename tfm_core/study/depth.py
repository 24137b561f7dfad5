"""What becomes of a signal, and of its gradient, on the way through many layers that are wired in one of four ways.

    pre-norm      x + f(norm(x))     Xiong et al. 2020
    post-norm     norm(x + f(x))     Vaswani et al. 2017, section 3.1
    no residuals  f(norm(x))
    no norm       x + f(x)

All four have the same weights: only the wiring differs.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.model.choices import check_choice
from tfm_core.model.initialization import draw
from tfm_core.model.layer import WIRINGS as WIRINGS
from tfm_core.model.layer import TransformerLayer, Wiring, through_wired
from tfm_core.positional.schemes import Positional, biases_made_once

Conversion = Callable[[TransformerLayer], TransformerLayer]


@dataclass(frozen=True)
class DepthSignal:
    """Lengths of vectors, before the first layer and after each layer.

    Attributes:
        forward: (layers + 1, batch, seq), of each token's vector.
        backward: (layers + 1, batch, seq), of the gradient of one number at the end with respect to that vector. The
            number is the product of the last vectors with random ones, so that every direction counts alike.
        similarity: (layers + 1, batch), the mean cosine between the vectors of two different tokens; NaN for a single
            token, which has no other.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, signals_by_depth
        >>> layers = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).stack.layers
        >>> signal = signals_by_depth(layers, torch.ones(1, 3, 8), ["pre-norm"])["pre-norm"]
        >>> signal.forward.shape, signal.similarity.shape  # of two layers
        (torch.Size([3, 1, 3]), torch.Size([3, 1]))
    """

    forward: Tensor
    backward: Tensor
    similarity: Tensor


@biases_made_once()
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

    What a layer remembers for its gradient is kept for one layer at a time: on the way down it is computed again. So
    memory grows with the number of layers only by the vectors themselves.

    Args:
        layers: without cross-attention, and all of one configuration, as a model's are; their own norm, pre or post,
            has no effect. They compute with numbers of x's kind: float32 layers with a float64 x do not take twice
            their memory, as each is converted while it runs.
        x: (batch, seq, d_model), what goes in.
        wirings: keys of `WIRINGS`.
        mask: of the self-attention, as in `MultiHeadAttention`; without an axis for the batch.
        positional: a scheme that acts inside the attention, likewise.
        seed: of the random vectors at the end.

    Raises:
        ValueError: for an unknown wiring, layers of a decoder that looks across, or layers of different shapes.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, signals_by_depth
        >>> layers = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2, num_layers=6)).stack.layers
        >>> x = torch.randn(1, 3, 8, generator=torch.Generator().manual_seed(0))
        >>> signals = signals_by_depth(layers, x, ["pre-norm", "post-norm"])
        >>> lengths = signals["post-norm"].forward[-1]  # after a norm, each vector has the length sqrt(d_model)
        >>> lengths.square().round(decimals=2).tolist()
        [[8.0, 8.0, 8.0]]
    """
    _check(layers, wirings)
    wired = [WIRINGS[name] for name in wirings]
    attended = partial(through_wired, mask=mask, positional=positional)
    converted = _converter(layers, x)
    reached = _reached(layers, x, wired, attended, converted)
    backs = [[draw(seed, "probe", tuple(x.shape), std=1.0).to(x)] * len(wired)]
    for layer, streams in zip(reversed(layers), reached[-2::-1], strict=True):
        with torch.enable_grad():
            starts = [stream.detach().requires_grad_() for stream in streams]
            ends = attended(converted(layer), wired, starts)
        backs.append(_carried_back(ends, starts, backs[-1]))
    signals = {}
    for at, name in enumerate(wirings):
        vectors = torch.stack([streams[at] for streams in reached])
        gradients = torch.stack([back[at] for back in reversed(backs)])
        signals[name] = DepthSignal(vectors.norm(dim=-1), gradients.norm(dim=-1), mean_cosine(vectors))
    return signals


def _reached(
    layers: Sequence[TransformerLayer],
    x: Tensor,
    wired: Sequence[Wiring],
    attended: Callable[..., list[Tensor]],
    converted: Conversion,
) -> list[list[Tensor]]:
    """Each wiring's stream before the first layer and after each.

    It is computed as on the way down, with gradients, and so to the same last digit: without norms, where gradients
    explode, another rounding would give others.
    """
    reached = [[x.detach()] * len(wired)]
    for layer in layers:
        with torch.enable_grad():
            ends = attended(converted(layer), wired, reached[-1])
        reached.append([end.detach() for end in ends])
    return reached


def _converter(layers: Sequence[TransformerLayer], x: Tensor) -> Conversion:
    """What gives a layer with numbers of x's kind: itself, or one copy that is each of them in turn.

    To copy a layer's modules takes 2 ms, and its numbers 0.05: of a stack of 24 small layers a copy of each, on the way
    up and on the way down, was half of all the time.
    """
    if not layers or next(layers[0].parameters()).dtype == x.dtype:
        return lambda layer: layer
    copy = deepcopy(layers[0]).to(x)
    parameters = list(copy.parameters())

    @torch.no_grad()
    def converted(layer: TransformerLayer) -> TransformerLayer:
        for here, there in zip(parameters, layer.parameters(), strict=True):
            if here.shape != there.shape:
                raise ValueError(f"expected layers of one shape, got {tuple(here.shape)} and {tuple(there.shape)}")
            here.copy_(there)
        return copy

    return converted


@biases_made_once()
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
    gets a final one of the layers' kind, as there, and what is differentiated is the product of what comes out with
    random vectors.

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

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, parameter_gradients
        >>> layers = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).stack.layers
        >>> x = torch.randn(1, 3, 8, generator=torch.Generator().manual_seed(0))
        >>> {wiring: lengths.shape for wiring, lengths in parameter_gradients(layers, x, ["pre-norm"]).items()}
        {'pre-norm': torch.Size([2])}
    """
    _check(layers, wirings)
    wired = [WIRINGS[name] for name in wirings]
    attended = partial(through_wired, mask=mask, positional=positional)
    converted = _converter(layers, x)
    reached = _reached(layers, x, wired, attended, converted)
    probe = draw(seed, "probe", tuple(x.shape), std=1.0).to(x)
    final = F.rms_norm if layers and isinstance(layers[0].feed_forward_norm, nn.RMSNorm) else F.layer_norm
    backs = [
        probe if wiring.norm_after else _before_norm(end, probe, final)
        for wiring, end in zip(wired, reached[-1], strict=True)
    ]
    sizes: list[list[Tensor]] = [[] for _ in wired]
    for each, streams in zip(reversed(layers), reached[-2::-1], strict=True):
        layer = converted(each)
        matrix = layer.feed_forward.output_projection.weight
        for at, (wiring, stream) in enumerate(zip(wired, streams, strict=True)):
            with torch.enable_grad():
                start = stream.detach().requires_grad_()
                (end,) = attended(layer, [wiring], [start])
            backs[at], of_matrix = _carried_back([end], (start, matrix), [backs[at]])
            sizes[at].append(of_matrix.norm())
    lengths = (torch.stack(each[::-1]) if each else x.new_zeros(0) for each in sizes)
    return dict(zip(wirings, lengths, strict=True))


def _carried_back(ends: Sequence[Tensor], starts: Sequence[Tensor], gradients: Sequence[Tensor]) -> list[Tensor]:
    """Gradients with respect to the starts, from those with respect to the ends.

    `torch.autograd.grad` takes those as well, but then imports SymPy: 38 MB, in each process, and a second.
    """
    with torch.enable_grad():
        products = [(end * gradient).sum() for end, gradient in zip(ends, gradients, strict=True)]
    return list(torch.autograd.grad(products, starts))


def _before_norm(end: Tensor, probe: Tensor, norm: Callable[[Tensor, list[int]], Tensor]) -> Tensor:
    """The gradient of the product of normalised vectors with random ones, with respect to what is normalised."""
    with torch.enable_grad():
        last = end.detach().requires_grad_()
        normed = norm(last, [last.shape[-1]])
    return _carried_back([normed], [last], [probe])[0]


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
