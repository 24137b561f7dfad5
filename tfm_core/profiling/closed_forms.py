"""What a stack of transformer layers needs, in closed form, and what every kind of network must say of itself.

Operations: 2 per multiplication with addition, of matrix products and convolutions alone; norms, softmax, activations,
biases and residual additions count 0, as in torch's FlopCounterMode. In the formulas n = seq_len, d = d_model, h =
num_heads, B = batch, L = num_layers.
"""

from dataclasses import dataclass
from typing import Protocol

from tfm_core.profiling.plan import Setup, Size
from tfm_core.scaled_dot_product import FASTER_WRITTEN, SCORES_AT_A_TIME

LARGE = 2**23  # numbers, from which on the C library asks the system for their memory anew
ITEMSIZE = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}

Parts = dict[str, int]


class Forms(Protocol):
    """What a kind of network must say of itself."""

    @property
    def efficiency(self) -> float:
        """Share of the rate of a large matrix product that its products reach."""

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part."""

    def flops(self, size: Size) -> Parts:
        """Of one forward pass, by part."""

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """What a backward pass need not do, of the twice `flops` that it would: gradients that nobody asks for."""

    def results(self, size: Size) -> int:
        """Numbers that a forward pass hands out."""

    def peak(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """Numbers at the peak of one call beyond weights and input: an estimate."""

    def moved(self, size: Size, setup: Setup) -> float:
        """Numbers that operators other than products read and write in a forward pass: an estimate."""

    def calls(self, size: Size) -> int:
        """Operators that a forward pass calls, roughly."""


@dataclass(frozen=True)
class Transformer:
    """Pre-norm layers and a final norm, all with biases.

    Attributes:
        attention: how it is done, which makes no difference to parameters and operations:
            "fused": no weights are written.
            "kept": all weights of all layers are written, and held until the end.
            "ours": written where that is faster, without gradients, else fused.
            "math": torch's MATH kernel, which writes them and checks for empty rows.
            "torch": nn.MultiheadAttention and nn.TransformerEncoder; their fast path writes them, training is fused.
            "torch weights": nn.MultiheadAttention asked for its weights.
        masked: whether there is a mask, (query, key).
        efficiency: measured, as in `Forms`.
    """

    attention: str = "ours"
    masked: bool = False
    efficiency: float = 0.7

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

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """Nothing: the first norm learns too, so that even the first projections must hand a gradient down."""
        return {}

    def results(self, size: Size) -> int:
        """The output B n d, and where they are kept the weights L B h n^2."""
        return stream(size) + (size.num_layers * scores(size) if self.attention == "kept" else 0)

    def peak(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """The fullest moment, where A = B n d, F = B n d_ff, S = B h n^2.

        Forward: in a layer's feed-forward network its input and the layer's, the norm, F and the output: 4 A + F. Or
        in its attention the layer's input, the norm, query, key, value, 5 A, and what `_attention` adds. The first
        layer's input is not counted.

        Forward + backward: each layer saves 8 A + 2 F (inputs and outputs of both norms, query, key, value, what the
        heads gathered, the hidden units before and after GELU) and S where weights are written, else B h n sums; then
        comes the last layer's gradient, of F and of a weight d d_ff, or of S twice. Where weights outgrow the rest: all
        their gradients and 4 A.
        """
        a, wide, s = stream(size), size.batch * size.seq_len * size.feed_forward_dim, scores(size)
        if backward:
            return self._training_peak(size, a, wide, s)
        held = a if size.num_layers > 1 else 0
        return held + max(3 * a + wide, 4 * a + self._attention(size, setup, a, s))

    def _attention(self, size: Size, setup: Setup, a: int, s: int) -> float:
        """What attention holds at its fullest moment beside its inputs and query, key and value, without gradients."""
        hidden = size.seq_len**2 / ITEMSIZE[setup.dtype] if self.masked else 0  # the mask turned round, in bytes
        match self.attention:
            case "math":
                return max(4 * a + s, a + 2 * s + s / ITEMSIZE[setup.dtype])
            case "torch":
                return s
            case "torch weights":
                return 2 * a + s
            case "kept":
                return _written(size, setup, a, s) + (size.num_layers - 1) * s
            case "ours" if self._is_written(size, setup):
                return _written(size, setup, a, s) + hidden
            case _:
                return 2 * a + (size.seq_len**2 if self.masked else 0)

    def _training_peak(self, size: Size, a: int, wide: int, s: int) -> float:
        written = self.attention in ("kept", "math", "torch weights")
        extra = s if written else size.batch * size.num_heads * size.seq_len
        extra += (a if self.attention == "torch weights" else 0) + (size.seq_len**2 if self.masked else 0)
        saved = size.num_layers * (8 * a + 2 * wide + extra) + a
        weight = size.d_model * size.feed_forward_dim
        attention = 2 * s - 4 * a - 2 * wide + 2 * weight if written else 0
        return max(saved + wide + weight, saved + attention, sum(self.parameters(size).values()) + 4 * a)

    def _is_written(self, size: Size, setup: Setup) -> bool:
        """Whether ours writes the weights down without being asked, as `is_faster_written` decides it."""
        return setup.device == "cpu" and scores(size) <= FASTER_WRITTEN[setup.threads > 1]

    def moved(self, size: Size, setup: Setup) -> float:
        """In each layer norms, residual additions, scaling and merging of heads 16 A, GELU 2 F, and softmax.

        Softmax reads the scores and writes the weights, 6 S with what the products move for it. Beyond `LARGE`, on the
        processor, these are new to the process each time, and cost as much as 20 S. In the cache, where the fused
        kernel does it, 2 S.
        """
        a, s = stream(size), scores(size)
        fused = self.attention == "fused" or (self.attention == "ours" and not self._is_written(size, setup))
        each = 2 if fused else 20 if s > LARGE and setup.device == "cpu" else 6
        return size.num_layers * (16 * a + 2 * size.batch * size.seq_len * size.feed_forward_dim + each * s)

    def calls(self, size: Size) -> int:
        """About 25 a layer."""
        return 25 * size.num_layers


def stream(size: Size) -> int:
    """Numbers of the residual stream, B n d."""
    return size.batch * size.seq_len * size.d_model


def scores(size: Size) -> int:
    """Numbers of one layer's scores, B h n^2."""
    return size.batch * size.num_heads * size.seq_len**2


def _written(size: Size, setup: Setup, a: int, s: int) -> float:
    """Weights by `weights_alone`: all at once, or where the scores outgrow the cache, some sequences at a time."""
    if s <= SCORES_AT_A_TIME or setup.device != "cpu":
        return max(2 * s, 3 * a + s)
    at_a_time = max(1, SCORES_AT_A_TIME // (s // size.batch)) / size.batch
    return a + s + at_a_time * (s + 2 * a)
