"""What each kind of network needs, in closed form: parameters and floating point operations by part.

Operations: 2 per multiplication with addition, of matrix products and convolutions alone; norms, softmax, activations,
biases and residual additions count 0, as in torch's FlopCounterMode. n = seq_len, d = d_model, B = batch, L = layers.
"""

from dataclasses import dataclass
from typing import Protocol

from tfm_core.profiling.plan import Size

Parts = dict[str, int]


class Forms(Protocol):
    """What a kind of network must say of itself."""

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part."""

    def flops(self, size: Size) -> Parts:
        """Of one forward pass, by part."""

    def spared(self, size: Size) -> Parts:
        """What a backward pass need not do, of the twice `flops` that it would: gradients of what nobody learns."""


@dataclass(frozen=True)
class Transformer:
    """Pre-norm layers and a final norm, all with biases; which kernel does the attention makes no difference to these.

    Attributes:
        attention: how the attention is done, a key of `ATTENTION_MEMORY` in `peaks`.
        masked: whether there is a mask.
    """

    attention: str = "ours"
    masked: bool = False

    def parameters(self, size: Size) -> Parts:
        """Projections L (4 d^2 + 4 d), feed-forward L (2 d d_ff + d_ff + d), norms 2 d each, 2 L + 1 of them."""
        d, wide = size.d_model, size.feed_forward_dim
        return {
            "projections": size.num_layers * (4 * d * d + 4 * d),
            "feed-forward": size.num_layers * (2 * d * wide + wide + d),
            "norms": (2 * size.num_layers + 1) * 2 * d,
        }

    def flops(self, size: Size) -> Parts:
        """B L times: projections 8 n d^2, products with scores 4 n^2 d, feed-forward 4 n d d_ff.

        A mask takes nothing away: the kernels compute all n^2 scores and hide some.
        """
        times, n, d = size.batch * size.num_layers, size.seq_len, size.d_model
        return {
            "projections": times * 8 * n * d * d,
            "products": times * 4 * n * n * d,
            "feed-forward": times * 4 * n * d * size.feed_forward_dim,
        }

    def spared(self, size: Size) -> Parts:
        """Nothing: the first norm learns too, so that even the first projections must hand a gradient down."""
        return {}
