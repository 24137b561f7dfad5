"""Closed forms of what a network costs: what every kind of network has to give, and the counts that all of them share.

Operations: 2 per multiplication with addition, of matrix products and convolutions alone; norms, softmax, activations,
biases and residual additions count 0, as in torch's FlopCounterMode. In the formulas n = seq_len, d = d_model, h =
num_heads, B = batch, L = num_layers, V = vocab_size.
"""

from collections import Counter
from typing import Protocol

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
    """Parameters of embedding and output: V d together, twice that where they share no matrix; V d of one alone.

    None where both are left out. With the embedding go types of tokens, t d; with the output what a masked-word head
    has before it and its bias, d^2 + d, a norm and V. A pooler has d^2 + d.
    """
    d, counts = size.d_model, Counter[str]()
    if size.embeds:
        counts["embedding"] += size.table + size.num_token_types * d
    if size.gives_logits:
        counts["logits"] += 0 if size.embeds and size.tie_embeddings else size.table
        if size.head == "masked":
            counts["logits"] += d * d + d + norm_parameters(size) + size.vocab_size
    if size.embeds and size.pooler:
        counts["pooler"] += d * d + d
    return {part: count for part, count in counts.items() if count}


def norm_parameters(size: Size) -> int:
    """What one norm learns: a factor for each dimension, d, and in layer norms a shift, too, 2 d."""
    return size.d_model * (1 if size.normalization == "rms" else 2)


def logits(size: Size) -> Parts:
    """FLOPs of the output, B 2 n d V, none where it is left out.

    Before it in a masked-word head B 2 n d^2. A pooler is not run by a pass.
    """
    if not size.gives_logits:
        return {}
    before = size.d_model**2 if size.head == "masked" else 0
    return {"logits": 2 * size.batch * size.seq_len * (size.table + before)}


def input_bytes(size: Size, setup: Setup) -> int:
    """Bytes of the residual stream B n d that goes in, or with an embedding of B n token ids of 8 bytes."""
    return 8 * size.batch * size.seq_len if size.embeds else setup.itemsize * size.stream


def transformer_parameters(size: Size) -> Parts:
    """What a transformer learns. The other networks are made as large as this.

    Projections A (4 d^2 + 4 d); where heads share keys, those of keys and values are d d_kv each. Feed-forward K (2 d
    d_ff + d_ff + d), gated K (3 d d_ff + 2 d_ff + d). Norms `norm_parameters` each: A + K of them, in pre-norm one more
    for each stack, and one where embeddings are normed. Without biases so much less. Positions, for each stack: the
    tables of the scheme, such as learned 1024 d, T5 32 h. Embedding and output: `ends`.
    """
    d, wide, maps, keys = size.d_model, size.feed_forward_dim, 3 if size.is_gated else 2, size.key_width
    others = size.num_stacks * ((size.norm == "pre") + size.embedding_norm)
    rows = size.max_len + size.position_offset
    positions = size.scheme.count_learned(d_model=d, num_heads=size.num_heads, max_len=rows)
    projections = 2 * d * d + 2 * d * keys + size.qkv_bias * (d + 2 * keys) + size.output_bias * d
    network = maps * d * wide + size.feed_forward_bias * ((maps - 1) * wide + d)
    counts = {
        **ends(size),
        "positions": size.num_stacks * sum(positions.values()),
        "projections": size.num_attentions * projections,
        "feed-forward": size.num_feed_forwards * network,
        "norms": (size.num_attentions + size.num_feed_forwards + others) * norm_parameters(size),
    }
    return {part: count for part, count in counts.items() if count}
