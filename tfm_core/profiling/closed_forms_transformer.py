"""What a transformer needs, in closed form.

Symbols as in closed_forms.py; and A = L attentions, K = L feed-forward networks, in an encoder-decoder 3 L and 2 L.
"""

from dataclasses import dataclass

from tfm_core.profiling.closed_forms import Parts, logits, transformer_parameters
from tfm_core.profiling.closed_forms_memory import Held
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size

LARGE = 2**23  # from this many numbers on, the C library asks the system for new memory each time


@dataclass(frozen=True)
class Transformer:
    """The transformer that a size describes, all with biases but its output.

    Attributes:
        attention: how it is done, which makes no difference to parameters and operations:
            "fused": no weights are written.
            "kept": all weights of all layers are written, and held until the end.
            "ours": written where that is faster, without gradients, else fused.
            "math": torch's MATH kernel, which writes them and checks for empty rows.
            "torch": nn.MultiheadAttention; its fast path writes them, training is fused.
            "torch layers": nn.TransformerEncoder; the same.
            "torch weights": nn.MultiheadAttention asked for its weights.
        masked: whether there is a mask, (query, key).
        efficiency: measured, as in `Forms`.
    """

    attention: str = "ours"
    masked: bool = False
    efficiency: float = 0.7

    def parameters(self, size: Size) -> Parts:
        """Numbers that are learned, by part: `transformer_parameters`, however the attention is done."""
        return transformer_parameters(size)

    def flops(self, size: Size) -> Parts:
        """Projections A B 8 n d^2, products with scores A B 4 n^2 d, feed-forward K B 4 n d d_ff, logits B 2 n d V.

        Where heads share keys, projections A B 4 n d (d + d_kv). Gated feed-forward K B 6 n d d_ff. A mask takes
        nothing away: all n^2 scores count, though torch's fused kernels pass over many of those that a causal mask
        hides.
        """
        n, d, maps = size.seq_len, size.d_model, 3 if size.is_gated else 2
        return {
            "projections": size.batch * size.num_attentions * 4 * n * d * (d + size.key_width),
            "products": size.batch * size.num_attentions * 4 * n * n * d,
            "feed-forward": size.batch * size.num_feed_forwards * 2 * maps * n * d * size.feed_forward_dim,
            **logits(size),
        }

    def spared(self, size: Size, *, input_gradient: bool) -> Parts:
        """Nothing in pre-norm: the first norm learns too, so that even the first projections must hand a gradient down.

        In post-norm the gradients of the inputs of query, key and value in the first layer of each stack, B 6 n d^2,
        where nothing below them learns: no embedding, no positions, and nobody asks.
        """
        if size.norm == "pre" or size.embeds or size.scheme.learns_at("encode") or input_gradient:
            return {}
        return {"projections": size.num_stacks * size.batch * 6 * size.seq_len * size.d_model**2}

    def results(self, size: Size) -> int:
        """The output B n d, or the logits B n V; and where they are kept the weights A B h n^2."""
        return size.outputs + (size.num_attentions * size.scores if self.attention == "kept" else 0)

    def peak(self, size: Size, setup: Setup, *, backward: bool) -> float:
        """The fullest moment; closed_forms_memory.py lists what is held at each."""
        held = Held(size, setup, self.attention, self.masked)
        return held.training(sum(self.parameters(size).values())) if backward else held.forward()

    def moved(self, size: Size, setup: Setup) -> float:
        """Each attention 10 B n d and the softmax, each feed-forward network 6 B n d and 2 B n d_ff, gated 5 B n d_ff.

        These are norms, residual additions, scaling and merging of heads, activations. Softmax reads the scores S = B h
        n^2 and writes the weights, 6 S with what the products move for it. Beyond `LARGE`, on the processor, these are
        new to the process each time, and cost as much as 20 S. In the cache, where the fused kernel does it, 2 S.
        Positions that turn query and key: 8 B n d; that are added to the scores: 3 S. With an embedding 4 B n d for
        each stack, and of logits twice as many as there are, 2 B n V.
        """
        a, s, held = size.stream, size.scores, Held(size, setup, self.attention, self.masked)
        fused = self.attention in ("fused", "ours") and not held.writes_weights
        each = 2 if fused else 20 if s > LARGE and setup.device == "cpu" else 6
        wide = (5 if size.is_gated else 2) * size.batch * size.seq_len * size.feed_forward_dim
        inside = 8 * a * ("rotate" in held.places) + 3 * s * ("bias_at" in held.places)
        at_ends = size.num_stacks * 4 * a * size.embeds + 2 * size.outputs * size.gives_logits
        return size.num_attentions * (10 * a + each * s) + size.num_feed_forwards * (6 * a + wide + inside) + at_ends

    def calls(self, size: Size) -> int:
        """Calls: about 16 an attention, 9 a feed-forward network, 10 more for what positions do inside an attention."""
        inside = sum(place != "encode" for place in size.scheme.enters())
        return 16 * size.num_attentions + (9 + 10 * inside) * size.num_feed_forwards
