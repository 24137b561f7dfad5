"""What every kind of network must say of itself in closed form, and the counts that all of them share.

Operations: 2 per multiplication with addition, of matrix products and convolutions alone; norms, softmax, activations,
biases and residual additions count 0, as in torch's FlopCounterMode. In the formulas n = seq_len, d = d_model, h =
num_heads, B = batch, L = num_layers, V = vocab_size.
"""

from typing import Protocol

from tfm_core.profiling.plan import Setup, Size

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


def ends(size: Size) -> Parts:
    """Parameters of embedding and output, V d together; none where they are left out."""
    return {"embedding": size.vocab_size * size.d_model} if size.vocab_size else {}


def logits(size: Size) -> Parts:
    """FLOPs of the output, B 2 n d V; none where it is left out."""
    count = 2 * size.batch * size.seq_len * size.d_model * size.vocab_size
    return {"logits": count} if count else {}


def outputs(size: Size) -> int:
    """Numbers of the output, B n d; with embedding and output B n V."""
    return size.batch * size.seq_len * (size.vocab_size or size.d_model)


def input_bytes(size: Size, setup: Setup) -> int:
    """Of the residual stream B n d that goes in, or with an embedding of B n token ids of 8 bytes."""
    return 8 * size.batch * size.seq_len if size.vocab_size else ITEMSIZE[setup.dtype] * stream(size)


def stream(size: Size) -> int:
    """Numbers of the residual stream, B n d."""
    return size.batch * size.seq_len * size.d_model


def scores(size: Size) -> int:
    """Numbers of one layer's scores, B h n^2."""
    return size.batch * size.num_heads * size.seq_len**2
