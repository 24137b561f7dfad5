"""Closed forms of what a network costs: what every kind of network has to give, and the counts that all of them share.

Operations: 2 per multiplication with addition, of matrix products and convolutions alone; norms, softmax, activations,
biases and residual additions count 0, as in torch's FlopCounterMode. In the formulas n = seq_len, d = d_model, h =
num_heads, B = batch, L = num_layers, V = vocab_size.
"""

from typing import Protocol

from tfm_core.model.kind import MAX_LEN
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size

Parts = dict[str, int]


class Forms(Protocol):
    """What every kind of network has to give."""

    @property
    def efficiency(self) -> float:
        """Share of the rate of a large matrix product that its products reach."""

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part."""

    def flops(self, size: Size) -> Parts:
        """FLOPs of one forward pass, by part."""

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """Operations that a backward pass saves, of twice as many as `flops`: gradients that nobody asks for."""

    def results(self, size: Size) -> int:
        """Numbers that a forward pass hands out."""

    def peak(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """Numbers at the peak of one call beyond weights and input: an estimate."""

    def moved(self, size: Size, setup: Setup) -> float:
        """Numbers that operators other than products read and write in a forward pass: an estimate."""

    def calls(self, size: Size) -> int:
        """Operators that a forward pass calls, roughly."""


def ends(size: Size) -> Parts:
    """Parameters of embedding and output, V d together and V d of one alone; none where both are left out."""
    return {"embedding" if size.embeds else "logits": size.table} if size.table else {}


def logits(size: Size) -> Parts:
    """FLOPs of the output, B 2 n d V; none where it is left out."""
    return {"logits": 2 * size.batch * size.seq_len * size.table} if size.gives_logits else {}


def input_bytes(size: Size, setup: Setup) -> int:
    """Bytes of the residual stream B n d that goes in, or with an embedding of B n token ids of 8 bytes."""
    return 8 * size.batch * size.seq_len if size.embeds else setup.itemsize * size.stream


def transformer_parameters(size: Size) -> Parts:
    """What a transformer learns. The other networks are made as large as this.

    Projections A (4 d^2 + 4 d); feed-forward K (2 d d_ff + d_ff + d), gated K (3 d d_ff + 2 d_ff + d). Norms 2 d each:
    A + K of them, and in pre-norm one more for each stack. Positions, for each stack: the tables of the scheme, such as
    learned 1024 d, T5 32 h. The embedding V d, whose matrix is the output's too; as many where there is only one of
    them.
    """
    d, wide, maps = size.d_model, size.feed_forward_dim, 3 if size.is_gated else 2
    finals = size.num_stacks if size.norm == "pre" else 0
    positions = size.scheme.count_learned(d_model=d, num_heads=size.num_heads, max_len=MAX_LEN)
    counts = {
        **ends(size),
        "positions": size.num_stacks * sum(positions.values()),
        "projections": size.num_attentions * (4 * d * d + 4 * d),
        "feed-forward": size.num_feed_forwards * (maps * d * wide + (maps - 1) * wide + d),
        "norms": (size.num_attentions + size.num_feed_forwards + finals) * 2 * d,
    }
    return {part: count for part, count in counts.items() if count}
