"""Memory at the peak of a transformer's pass, in closed form: what our code and torch's hold at each full moment.

Memory is counted in numbers of the pass's dtype, beyond weights and input. Symbols: a = B n d, the residual stream;
F = B n d_ff; S = B h n^2, the scores of one attention.
"""

from dataclasses import dataclass

from tfm_core.model.weights_in_parts import FASTER_WRITTEN, SCORES_AT_A_TIME
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size


@dataclass(frozen=True)
class Held:
    """What a pass holds.

    Attributes:
        size: the transformer.
        setup: its dtype, device and threads, on which the way of computing depends.
        attention: how it is done, as in `Transformer`.
        masked: whether it has a mask beside the causal one.
    """

    size: Size
    setup: Setup
    attention: str
    masked: bool

    @property
    def a(self) -> int:
        """The residual stream."""
        return self.size.stream

    @property
    def s(self) -> int:
        """The scores of one attention."""
        return self.size.scores

    @property
    def wide(self) -> int:
        """The hidden units, F."""
        return self.size.batch * self.size.seq_len * self.size.feed_forward_dim

    @property
    def places(self) -> tuple[str, ...]:
        """Where positions enter."""
        return self.size.scheme.enters()

    @property
    def bias(self) -> int:
        """What positions add to the scores of every sequence, h n^2."""
        return self.size.num_heads * self.size.seq_len**2 if "bias_at" in self.places else 0

    @property
    def mask(self) -> int:
        """A mask as numbers, n^2; 0 where there is none."""
        return self.size.seq_len**2 if self.masked or self.size.looks_back_only else 0

    @property
    def embeds(self) -> bool:
        """Whether the first layer's input is made within the pass, and so counts."""
        return self.size.embeds or self.adds_positions

    @property
    def adds_positions(self) -> bool:
        """Whether positions are added to what the first layer reads."""
        return "encode" in self.places

    @property
    def writes_weights(self) -> bool:
        """Whether ours writes the weights down without being asked, as `is_faster_written` decides it."""
        return self.setup.device == "cpu" and self.s <= FASTER_WRITTEN[self.setup.threads > 1]

    def forward(self) -> float:
        """The peak without gradients.

        In an attention the layer's input, in pre-norm its norm, query, key and value, and what `_attention` adds; in a
        feed-forward network the caller's x, the layer's, in pre-norm its norm, and F with the output or, gated, 3 F.
        The first layer's input counts where the pass makes it, and the embedded tokens beside it. Beside them lie the
        weights of all attentions so far where they are kept, and in a decoder the encoder's output. At last the logits
        lie beside what they are made from.
        """
        size, a = self.size, self.a
        caller = a if size.num_layers > 1 or self.embeds else 0
        if self.attention == "torch layers" and self.embeds:
            caller += a  # what went into the first of its layers
        if size.embeds and (self.adds_positions or (size.num_layers > 1 and self.attention != "torch layers")):
            caller += a  # the embedded tokens, where they are not what the layer reads
        normed = a if size.norm == "pre" else 0
        memory: float = a if size.num_stacks == 2 else 0
        if size.architecture != "encoder":
            memory += self.mask / self.setup.itemsize  # decoders make their own
        kept = self.s if self.attention == "kept" else 0
        before = (size.num_attentions - 1) * kept
        feed_forward = a + normed + (max(3 * self.wide, self.wide + a) if size.is_gated else self.wide + a)
        self_attentions = before - (kept if size.num_stacks == 2 else 0)  # the last of all looks across
        moments = [
            caller + normed + 3 * a + self._attention(inside=True) + self_attentions,
            caller + feed_forward + before + kept,
        ]
        if size.num_stacks == 2:
            moments.append(caller + a + normed + 3 * a + self._attention(inside=False) + before)
        if size.gives_logits:
            moments.append(a + size.outputs + before + kept)
        return memory + max(moments)

    def _attention(self, *, inside: bool) -> float:
        """What an attention holds at its fullest beside its inputs and query, key and value.

        Args:
            inside: of self-attention, where masks and positions are; else of the one that looks across.
        """
        a, s, itemsize = self.a, self.s, self.setup.itemsize
        bias, mask = (self.bias, self.mask) if inside else (0, 0)
        added = bias * (2 if mask else 1) if bias else mask  # what is added to the scores, made from bias and mask
        math = max(4 * a + s, a + 2 * s + s / itemsize) + added
        match self.attention:
            case "math":
                return math
            case "torch layers" if self.size.activation not in ("relu", "gelu"):  # off its fast path
                return 7 * a + mask + mask / itemsize
            case "torch" | "torch layers" | "torch weights" if mask:
                return max(2 * a + s, 2 * s + s / itemsize + mask)
            case "torch" | "torch layers":
                return s
            case "torch weights":
                return 2 * a + s
            case "kept":
                return self._written() + bias + mask / itemsize
            case "ours" if self.writes_weights:
                return self._written() + bias + mask / itemsize
            case "ours" if bias and self.setup.device == "cpu" and s > SCORES_AT_A_TIME:
                return self._gathered() + bias + mask / itemsize
            case "ours" if bias:
                return math
            case _:
                turning = 3 * a if inside and "rotate" in self.places else 0
                told = mask and not (self.masked or bias or self.attention == "ours")  # to be causal: it needs no mask
                return max(turning, 2 * a + (0 if told else added))

    def _written(self) -> float:
        """Weights by `attended_alone`: all at once, or where the scores outgrow the cache, part by part.

        In parts, the scaled queries, the keys and what is gathered lie beside the weights, and a part's scores, unless
        they lie where the weights will be.
        """
        a, s = self.a, self.s
        if s <= SCORES_AT_A_TIME or self.setup.device != "cpu":
            return max(2 * s, 3 * a + s)
        buffer = 0 if self.size.seq_len**2 > SCORES_AT_A_TIME else self._part()
        return 3 * a + s + buffer

    def _gathered(self) -> float:
        """What heads gather by `gathered_alone`: scaled queries, keys, the result; a part's scores and weights."""
        return 3 * self.a + 2 * self._part()

    def _part(self) -> int:
        """Scores that take turns in one buffer."""
        size = self.size
        pairs = size.seq_len**2
        heads = max(1, min(size.num_heads, SCORES_AT_A_TIME // pairs))
        sequences = max(1, min(size.batch, SCORES_AT_A_TIME // (pairs * size.num_heads)))
        return sequences * heads * pairs

    def training(self, parameters: int) -> float:
        """Forward + backward.

        Each attention saves 6 a (its norm's input and output, query, key, value, what the heads gathered) and S where
        weights are written, else B h n sums. Each feed-forward network saves 2 a and its hidden units before and after
        the activation, 2 F; ReLU once, F; gated 4 F. Then comes the last layer's gradient, of F and of a weight d d_ff,
        or of S twice; or the logits' gradient. Where weights outgrow the rest: all their gradients and 4 a.

        Args:
            parameters: their number.
        """
        size, a, wide, s = self.size, self.a, self.wide, self.s
        hidden = 4 if size.is_gated else 1 if size.activation == "relu" else 2
        gradients = 1 if hidden == 2 else 2
        saved: float = size.num_attentions * 6 * a + size.num_feed_forwards * (2 * a + hidden * wide)
        saved += (size.num_stacks if self.embeds else 0) * a + (a if size.gives_logits else 0)
        saved += (size.num_stacks - 1) * a if size.norm == "pre" else -a
        saved += self._saved_by_attentions()
        weight, table = size.d_model * size.feed_forward_dim, size.table if size.gives_logits else 0
        attention = 2 * s - 4 * a - hidden * wide + 2 * weight if self._trains_written(inside=True) else 0
        at_output = table + size.outputs + a if size.gives_logits else 0
        way_back = saved + table + max(gradients * wide + weight, attention)
        return max(way_back, saved + at_output, parameters + 4 * a)

    def _saved_by_attentions(self) -> float:
        """What attentions save besides the inputs of their products."""
        size, a, saved = self.size, self.a, 0.0
        for inside, many in ((True, size.num_feed_forwards), (False, size.num_attentions - size.num_feed_forwards)):
            written = self._trains_written(inside=inside)
            each = self.s if written else size.batch * size.num_heads * size.seq_len
            each += a if self.attention == "torch weights" else 0
            if inside and not written:
                each += a if "rotate" in self.places else 0
                each += self.mask if not self.bias and (self.masked or self.attention == "ours") else 0
                saved += self._saved_biases()
            saved += many * each
        return saved

    def _saved_biases(self) -> float:
        """What is added to scores, of which a stack without a mask has one for all layers, and else each its own."""
        size = self.size
        under_mask = size.num_layers if self.mask else 0
        return self.bias * (under_mask + size.num_stacks - (under_mask > 0))

    def _trains_written(self, *, inside: bool) -> bool:
        """Whether weights are written where gradients are asked for: MATH does so, which ours takes with a bias."""
        learned = self.size.scheme.learns_at("bias_at")
        biased = inside and (learned or (self.attention == "ours" and self.bias > 0))
        return biased or self.attention in ("kept", "math", "torch weights")
